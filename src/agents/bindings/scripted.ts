import { sortedJson } from "../../formats/json/canonical-json.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { defined } from "../../protocol/defined.ts";
import { closed, matches, type Problem, problemsOf, type Static, type TSchema, Type } from "../../protocol/schema.ts";
import { AGENT_FAILURE_CODES, type AgentAnswer, type AgentTask, type Binding, type Watcher } from "../binding.ts";
import { delay } from "../retrying.ts";
import { failed } from "./answers.ts";

const NAME = "scripted";

/** An agent with scripted answers. Nothing leaves the process. */
export function scriptedBinding(script: Script): Binding {
  let taken = 0;
  const rules = script.byInput.map((rule) => ("equals" in rule ? { ...rule, equals: sortedJson(rule.equals) } : rule));
  const next = (task: AgentTask): ScriptedAnswer | undefined =>
    forTask(script, task) ?? forInput(rules, task.input) ?? script.sequence[taken++] ?? script.default;
  return {
    kind: "scripted",
    provider: NAME,
    model: NAME,
    // Answers of a sequence depend on earlier calls, so it has no fingerprint.
    ...(script.sequence.length === 0 ? { fingerprint: fingerprintOf(script) } : {}),
    call: async (task, watch) => {
      task.signal.throwIfAborted();
      const answer = next(task);
      if (answer === undefined) {
        return failed("agent_error", `the script has no answer for ${task.taskId ?? "this input"}`);
      }
      return perform(answer, task, watch);
    },
  };
}

function fingerprintOf({ byTaskId, byInput, default: fallback }: Script): string {
  const text = sortedJson([Object.fromEntries(byTaskId), byInput, fallback ?? null]);
  return `${NAME}:${sha256(text)}`;
}

function forTask({ byTaskId }: Script, { taskId, trial = 1 }: AgentTask): ScriptedAnswer | undefined {
  const answers = taskId === undefined ? undefined : byTaskId.get(taskId);
  return answers?.[(trial - 1) % answers.length];
}

/** The first rule that matches. Values of rules are texts already. */
function forInput(rules: readonly InputRule[], input: unknown): ScriptedAnswer | undefined {
  if (rules.length === 0) return undefined;
  const text = typeof input === "string" ? input : JSON.stringify(input ?? null);
  const sorted = sortedJson(input ?? null);
  return rules.find((rule) => ("contains" in rule ? text.includes(rule.contains) : rule.equals === sorted))?.answer;
}

async function perform(answer: ScriptedAnswer, task: AgentTask, watch: Watcher): Promise<AgentAnswer> {
  const { delayMs = 0, reasoning = [], toolCalls = [], chunks = [], usage } = answer;
  await delay(delayMs, task.signal);
  for (const delta of reasoning) watch.reasoning(delta);
  let outcome: unknown = null;
  for (const { name, arguments: args = {} } of toolCalls) {
    const result = await task.tools.call(name, args, task.signal);
    outcome = result.status === "ok" ? result.outcome : { error: result.error };
  }
  for (const chunk of chunks) watch.chunk(chunk);
  if (usage !== undefined) watch.usage({ provider: NAME, model: NAME, ...usage });
  return endOf(answer, task.input, outcome);
}

function endOf(answer: ScriptedAnswer, input: unknown, outcome: unknown): AgentAnswer {
  const { refused, error, echo, confidence, handoff } = answer;
  if (refused !== undefined) return { type: "refused", reason: refused };
  if (error !== undefined) return failed(error.code, error.message ?? "as scripted", error.retryable);
  const outputs = { input: input ?? null, tool: outcome };
  return {
    type: "completed",
    output: echo === undefined ? answer.output : outputs[echo],
    ...defined({ confidence, handoff }),
  };
}

const words = Type.String({ maxLength: 1_000_000 });
const name = Type.String({ minLength: 1, maxLength: 256 });
const count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** One answer, with the events before it. It has exactly one of `output`, `echo`, `refused` and `error`. */
export const ScriptedAnswer = Type.Object(
  {
    output: Type.Optional(Type.Unknown()),
    echo: Type.Optional(Type.Enum(["input", "tool"])),
    refused: Type.Optional(Type.String({ minLength: 1, maxLength: 10_000 })),
    error: Type.Optional(
      Type.Object(
        {
          code: Type.Enum([...AGENT_FAILURE_CODES]),
          message: Type.Optional(words),
          retryable: Type.Optional(Type.Boolean()),
        },
        closed,
      ),
    ),
    delayMs: Type.Optional(Type.Integer({ minimum: 0, maximum: 3_600_000 })),
    reasoning: Type.Optional(Type.Array(words, { maxItems: 10_000 })),
    toolCalls: Type.Optional(
      Type.Array(Type.Object({ name, arguments: Type.Optional(Type.Unknown()) }, closed), { maxItems: 1_000 }),
    ),
    chunks: Type.Optional(Type.Array(words, { maxItems: 10_000 })),
    usage: Type.Optional(
      Type.Object(
        {
          provider: Type.Optional(name),
          model: Type.Optional(name),
          inputTokens: count,
          outputTokens: count,
          cacheReadTokens: Type.Optional(count),
          cacheWriteTokens: Type.Optional(count),
          costUsd: Type.Optional(Type.Number({ minimum: 0 })),
        },
        closed,
      ),
    ),
    confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    handoff: Type.Optional(
      Type.Object({ toAgentId: Type.String({ minLength: 3, maxLength: 256 }), reason: Type.Optional(words) }, closed),
    ),
  },
  closed,
);
export type ScriptedAnswer = Static<typeof ScriptedAnswer>;

/** Answers are checked one by one, so that each problem names its place. */
const SHAPE = Type.Object(
  {
    byTaskId: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    byInput: Type.Optional(
      Type.Array(
        Type.Object(
          { equals: Type.Optional(Type.Unknown()), contains: Type.Optional(words), answer: Type.Unknown() },
          closed,
        ),
      ),
    ),
    sequence: Type.Optional(Type.Array(Type.Unknown())),
    default: Type.Optional(Type.Unknown()),
  },
  closed,
);

/** The sources of an answer, in the order of their use. */
export interface Script {
  /** One answer for every trial; a list is used trial by trial, and repeats after its last answer. */
  readonly byTaskId: ReadonlyMap<string, readonly ScriptedAnswer[]>;
  readonly byInput: readonly InputRule[];
  /** One answer for each call without a match above; then none. */
  readonly sequence: readonly ScriptedAnswer[];
  readonly default?: ScriptedAnswer;
}

export type InputRule = { readonly answer: ScriptedAnswer } & (
  | { readonly equals: unknown }
  /** Matches the text of the input: the input itself when it is a text, else its JSON. */
  | { readonly contains: string }
);

export type ReadScript =
  | { readonly ok: true; readonly script: Script }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const EVERY = 10_000;
const KINDS = ["output", "echo", "refused", "error"] as const;

/** A script from its JSON, or everything that is wrong with it. */
export function readScript(value: unknown): ReadScript {
  const problems: Problem[] = problemsIf(SHAPE, value);
  if (problems.length > 0) return { ok: false, problems };
  const raw = value as Static<typeof SHAPE>;

  const answer = (path: string, one: unknown): ScriptedAnswer => {
    const wrong = problemsIf(ScriptedAnswer, one).map(({ path: inside, problem }) => ({
      path: path + inside,
      problem,
    }));
    problems.push(...wrong);
    const given = wrong.length > 0 ? ["-"] : KINDS.filter((kind) => Object.hasOwn(one as object, kind));
    if (given.length !== 1) problems.push({ path, problem: `must have exactly one of ${KINDS.join(", ")}` });
    return one as ScriptedAnswer;
  };
  const answers = (path: string, list: readonly unknown[]) => list.map((one, i) => answer(`${path}/${i}`, one));

  const byTaskId = Object.entries(raw.byTaskId ?? {}).map(([id, one]): [string, ScriptedAnswer[]] => {
    const path = `/byTaskId/${id}`;
    if (Array.isArray(one) && one.length === 0) problems.push({ path, problem: "must have at least one answer" });
    return [id, Array.isArray(one) ? answers(path, one) : [answer(path, one)]];
  });
  const byInput = (raw.byInput ?? []).map((rule, i): InputRule => {
    const path = `/byInput/${i}`;
    if (Object.hasOwn(rule, "equals") === Object.hasOwn(rule, "contains")) {
      problems.push({ path, problem: "must have exactly one of equals, contains" });
    }
    return { ...rule, answer: answer(`${path}/answer`, rule.answer) } as InputRule;
  });
  const sequence = answers("/sequence", raw.sequence ?? []);
  const fallback = Object.hasOwn(raw, "default") ? { default: answer("/default", raw.default) } : {};
  if (Object.keys(raw).length === 0) problems.push({ path: "", problem: "must have an answer" });
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, script: { byTaskId: new Map(byTaskId), byInput, sequence, ...fallback } };
}

export function problemsIf(schema: TSchema, value: unknown): Problem[] {
  return matches(schema, value) ? [] : problemsOf(schema, value, EVERY);
}
