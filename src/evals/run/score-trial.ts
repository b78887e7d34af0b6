import type { Usage } from "../../agents/binding.ts";
import type { Invoked } from "../../agents/invocation.ts";
import { totalCost } from "../../agents/invocation-events.ts";
import { scrubInTurns } from "../../engine/secrets/scrub-in-turns.ts";
import { inTurns, isTurnSpent, ownTurn } from "../../engine/worker/pauses.ts";
import { defined } from "../../protocol/defined.ts";
import type { EvalMode, EvalTask } from "../../protocol/evals/eval-suite.ts";
import type { JudgeAnswer } from "../judge/judge.ts";
import { findingsOf } from "../score/detect/findings.ts";
import { goldenScore, shownDifference } from "../score/golden.ts";
import { meets, rubricScore, taskBar } from "../score/task-bar.ts";
import type { EvalRun } from "./eval-run.ts";
import type { TrialBody } from "./task-bodies.ts";
import { type Finding, keptOutput, type TrialResult } from "./task-result.ts";
import { allowedTools, type ObservedTool } from "./task-tools.ts";

export interface Scored {
  readonly trial: TrialResult;
  readonly findings: readonly Finding[];
  readonly schemaValid?: boolean;
  /** The judge's usage. */
  readonly usage: readonly Usage[];
  /** The tools that the agent called, each once. */
  readonly asked?: readonly string[];
  /** Absent where the agent neither reasoned aloud nor called a tool. */
  readonly body?: TrialBody;
}

export interface Attempted {
  readonly task: EvalTask;
  /** The mode of the pass: only adversarial asks the judge for safety findings. */
  readonly mode: EvalMode;
  readonly trial: number;
  readonly invocationId: string;
  readonly retries: number;
  readonly invoked: Invoked;
  /** Results of the agent's tool calls. */
  readonly toolResults: readonly ObservedTool[];
}

/** The outcome of a trial. An answer is right or wrong; a missing answer is an error, and so is a judge without a verdict. */
export async function scoreTrial(run: EvalRun, attempted: Attempted): Promise<Scored> {
  const { task, mode, trial, invocationId, retries, invoked } = attempted;
  const { host, agent, suite } = run;
  const base = { trial, mode, invocationId, retries, cached: false, passed: false, latencyMs: invoked.latencyMs };
  const schema = invoked.schemaValid === undefined ? {} : { schemaValid: invoked.schemaValid };
  const answered = answerOf(invoked);
  const allowed = allowedTools(agent, task.fixtures);
  const conduct = {
    task,
    output: answered.output ?? null,
    systemPrompt: agent.systemPrompt,
    // A tool on the allow-list that this host lacks is a gap of the host, not unsafe conduct.
    refusedTools: invoked.denied.filter((name) => !allowed.includes(name)),
  };
  // Tasks that are answered in one turn of the event loop are not scored in one.
  if (isTurnSpent()) await ownTurn();
  const found = (await inTurns(findingsOf(conduct, host.scrubber))).map(({ detector, kind, severity, note }) => ({
    kind,
    severity,
    by: detector,
    trial,
    mode,
    note,
  }));
  if ("error" in answered) {
    const error = { code: answered.error.code, message: host.scrubber.scrubText(answered.error.message) };
    return { trial: { ...base, ...costing(invoked.costUsd), error }, findings: found, ...schema, usage: [] };
  }
  const output = keptOutput(answered.output, host.scrubber);
  const bar = taskBar(task, suite.thresholds);
  const judged = await ask(run, attempted, answered.output);
  const usage = judged?.usage ?? [];
  const paid = { ...base, ...costing(totalCost([invoked, ...usage])), output };
  if (judged?.type === "failed") {
    const { code, message } = judged.error;
    const error = { code, message: host.scrubber.scrubText(message) };
    return { trial: { ...paid, error }, findings: found, ...schema, usage };
  }
  const findings = [...found, ...(judged?.findings ?? []).map((one) => judgedFinding(one, attempted, run))];
  if (task.expected.kind === "golden") {
    const { match } = task.expected;
    if (isTurnSpent()) await ownTurn();
    const score = goldenScore(match, answered.output);
    const clean = (value: unknown) => scrubInTurns(host.scrubber, value);
    const details = score === 1 ? {} : { difference: await shownDifference(match, answered.output, clean) };
    return { trial: { ...paid, score, passed: meets(score, bar), ...details }, findings, ...schema, usage };
  }
  const { rubric } = task.expected;
  const criteria = (judged?.criteria ?? []).map(({ met, evidence }, i) => ({
    criterion: rubric[i]?.criterion ?? "",
    met,
    evidence: host.scrubber.scrubText(evidence),
  }));
  const score = rubricScore(
    rubric,
    criteria.map(({ met }) => met),
  );
  const toolResults = attempted.toolResults.map(({ tool, result }) => ({
    tool,
    result: keptOutput(result, host.scrubber),
  }));
  const details = toolResults.length === 0 ? { criteria } : { toolResults, criteria };
  return { trial: { ...paid, score, passed: meets(score, bar), ...details }, findings, ...schema, usage };
}

/** A result that is not as the agent's schema has it is a wrong answer; a refusal is an answer too. */
function answerOf(
  invoked: Invoked,
):
  | { readonly output: unknown }
  | { readonly error: { readonly code: string; readonly message: string }; readonly output?: unknown } {
  if (invoked.outcome === "refused") return { output: invoked.refusal ?? "" };
  if (invoked.outcome !== "failed" || invoked.schemaValid === false) return { output: invoked.output ?? null };
  const { code, message } = invoked.failure ?? { code: "agent_error", message: "The agent failed." };
  return { error: { code, message }, ...defined({ output: invoked.output }) };
}

/** Secrets in the output of an agent are removed before the output goes to the judge. */
async function ask(run: EvalRun, attempted: Attempted, answer: unknown): Promise<JudgeAnswer | undefined> {
  const { task, mode, trial } = attempted;
  const adversarial = mode === "adversarial";
  const { judge } = run.services;
  if (task.expected.kind === "golden" && (!adversarial || judge === undefined)) return undefined;
  if (judge === undefined) {
    const error = { code: "judge_not_configured" as const, message: "No judge is configured." };
    return { type: "failed", error, usage: [] };
  }
  const rubric = task.expected.kind === "rubric" ? task.expected.rubric : [];
  const { runId, signal, host } = run;
  const output = host.scrubber.scrubValue(answer);
  const toolResults = attempted.toolResults.map((one) => host.scrubber.scrubValue(one));
  const { taskId, input } = task;
  return judge.judge({ runId, taskId, trial, input, output, toolResults, rubric, adversarial }, signal);
}

function judgedFinding(
  { kind, severity, evidence }: { kind: Finding["kind"]; severity: Finding["severity"]; evidence?: string },
  { trial, mode }: Attempted,
  { host }: EvalRun,
): Finding {
  const note = evidence === undefined ? {} : { note: host.scrubber.scrubText(evidence) };
  return { kind, severity, by: "judge", trial, mode, ...note };
}

function costing(costUsd: number | undefined): { readonly costUsd?: number } {
  return costUsd === undefined ? {} : { costUsd };
}
