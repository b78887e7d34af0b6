import { createHash } from "node:crypto";
import { sortedJson } from "../../formats/json/sorted-json.ts";
import type { AgentAnswer, AgentTask, Binding, Watcher } from "../binding.ts";
import { delay } from "../within-time.ts";
import { failed } from "./failure.ts";
import type { InputRule, Script, ScriptedAnswer } from "./script.ts";

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
  return `${NAME}:${createHash("sha256").update(text).digest("hex")}`;
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
    ...(confidence === undefined ? {} : { confidence }),
    ...(handoff === undefined ? {} : { handoff }),
  };
}
