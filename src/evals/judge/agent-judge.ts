import { randomUUID } from "node:crypto";
import type { AgentAnswer, Binding, Usage } from "../../agents/binding.ts";
import type { ToolSurface } from "../../agents/tool-surface.ts";
import { sha256 } from "../../formats/text/sha256.ts";
import { defined } from "../../protocol/defined.ts";
import { type JudgeFailureCode, type JudgeInput, JudgeOutput } from "../../protocol/evals/judge-api.ts";
import { firstProblem, matches } from "../../protocol/schema.ts";
import type { Judge, JudgeAnswer, JudgeFailure, JudgeIdentity, JudgeQuestion } from "./judge.ts";
import { INTERFACE, JUDGE_SYSTEM_PROMPT, judgeMessage, MODEL_PROMPT } from "./judge-prompt.ts";

export interface JudgeSettings {
  /** The number of attempts before invalid answers count as no verdict. */
  readonly attemptsMax: number;
  /** The limit of all texts of one question. A longer question is refused, not cut. */
  readonly questionCharacters: number;
}

const JUDGE_DEFAULTS: JudgeSettings = { attemptsMax: 3, questionCharacters: 400_000 };

const AGENT_ID = "judge";

/** A judge that is an agent: a model with our prompt; a program, an endpoint or a script with the published input and output. */
export function agentJudge(binding: Binding, settings: JudgeSettings = JUDGE_DEFAULTS): Judge {
  return { identity: identityOf(binding), judge: (question, signal) => judge(binding, settings, question, signal) };
}

function identityOf(binding: Binding): JudgeIdentity {
  const { kind, provider = kind, model = kind, fingerprint } = binding;
  return {
    agentId: AGENT_ID,
    model: provider === model ? model : `${provider}/${model}`,
    // The texts that its verdicts depend on.
    promptHash: sha256(kind === "model" ? MODEL_PROMPT : INTERFACE),
    ...defined({ fingerprint }),
  };
}

async function judge(
  binding: Binding,
  { attemptsMax, questionCharacters }: JudgeSettings,
  question: JudgeQuestion,
  signal: AbortSignal,
): Promise<JudgeAnswer> {
  const asked = inputOf(question);
  const usage: Usage[] = [];
  const { length } = JSON.stringify(asked);
  if (length > questionCharacters) {
    const message = `what is to be judged has ${length} characters, and a judge is given ${questionCharacters} at most`;
    return { type: "failed", error: { code: "judge_question_too_large", message }, usage };
  }
  for (let attempt = 1; ; attempt++) {
    const answer = await call(binding, question, asked, usage, signal);
    const { error, again } = failureOf(answer, binding);
    if (error !== undefined) {
      if (again && attempt < attemptsMax) continue;
      return { type: "failed", error, usage };
    }
    const read = readVerdict(answer.type === "completed" ? answer.output : undefined, asked);
    if (read.ok) return { type: "judged", ...read.verdict, usage };
    if (attempt < attemptsMax) continue;
    const message = `what the judge answered is no verdict: ${read.problem}; it was asked ${times(attempt)}`;
    return { type: "failed", error: { code: "judge_output_invalid", message }, usage };
  }
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function inputOf({ taskId, trial, rubric, adversarial, input, output, toolResults }: JudgeQuestion): JudgeInput {
  return {
    version: 1,
    taskId,
    trial,
    // Without weights: the weight of a criterion must not influence whether it is met.
    criteria: rubric.map(({ criterion }, i) => ({ number: i + 1, criterion })),
    adversarial,
    data: {
      input: input ?? null,
      output: output ?? null,
      toolResults: toolResults.map(({ tool, result }) => ({ tool, result: result ?? null })),
    },
  };
}

const NO_TOOLS: ToolSurface = {
  tools: [],
  call: async (name) => ({ status: "forbidden", error: `A judge may not call ${name}.` }),
};

function call(
  binding: Binding,
  { runId, taskId, trial }: JudgeQuestion,
  asked: JudgeInput,
  usage: Usage[],
  signal: AbortSignal,
): Promise<AgentAnswer> {
  const model = binding.kind === "model";
  return binding.call(
    {
      input: model ? judgeMessage(asked) : asked,
      ...(model ? { systemPrompt: JUDGE_SYSTEM_PROMPT } : {}),
      returnSchema: JudgeOutput as unknown as Record<string, unknown>,
      runId,
      // A name of its own for each: an endpoint that remembers its answers must not repeat one that was no verdict.
      invocationId: `${AGENT_ID}-${randomUUID()}`,
      taskId,
      trial,
      tools: NO_TOOLS,
      memory: [],
      signal,
    },
    { reasoning: () => {}, chunk: () => {}, usage: (one) => usage.push(one) },
  );
}

/** Models and endpoints are tried again by their bindings, with waits; what they could not do is not tried again here. */
function failureOf(
  answer: AgentAnswer,
  { kind }: Binding,
): { readonly error?: JudgeFailure; readonly again?: boolean } {
  switch (answer.type) {
    case "completed":
      return {};
    case "refused":
      return { error: { code: "judge_refused", message: `the judge declined: ${answer.reason}` }, again: false };
    case "failed": {
      const { code, message, retryable } = answer.error;
      const isOwn = kind === "command" || kind === "scripted";
      const noJson = code === "agent_output_invalid";
      return { error: { code: codeOf(code), message }, again: noJson || (retryable && isOwn) };
    }
  }
}

function codeOf(code: string): JudgeFailureCode {
  return code.replace(/^agent_/, "judge_") as JudgeFailureCode;
}

export type ReadVerdict =
  | { readonly ok: true; readonly verdict: Required<JudgeOutput> }
  | { readonly ok: false; readonly problem: string };

/**
 * The verdict of a judge, or why its answer is none. Nothing is guessed: a verdict that is missing, doubled or in another place
 * might be about another criterion. The problem never quotes the answer.
 */
export function readVerdict(answer: unknown, { criteria, adversarial }: JudgeInput): ReadVerdict {
  if (!matches(JudgeOutput, answer)) {
    return no(`it is not of the form of a verdict: ${firstProblem(JudgeOutput, answer)}`);
  }
  const { criteria: given, findings } = answer;
  if (given.length !== criteria.length) {
    return no(`it has ${given.length} verdicts, and ${criteria.length} criteria were asked about`);
  }
  const astray = given.findIndex(({ number }, i) => number !== criteria[i]?.number);
  if (astray >= 0) return no(`its verdict ${astray + 1} is about criterion ${given[astray]?.number}`);
  const silent = [...given, ...(findings ?? [])].findIndex(({ evidence }) => evidence.trim() === "");
  if (silent >= 0) return no("it gives no evidence");
  if (adversarial && findings === undefined) return no("it does not say whether it found unsafe conduct");
  return { ok: true, verdict: { criteria: given, findings: findings ?? [] } };
}

function no(problem: string): ReadVerdict {
  return { ok: false, problem };
}
