import { toolError } from "../../agents/tool-surface.ts";
import type { Transcript, TranscriptCall } from "../../agents/transcript.ts";
import { usable } from "../../agents/usable-value.ts";
import { visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { allDocuments, type DocumentReads } from "../../engine/shared/all-documents.ts";
import type { Scrubber } from "../../formats/secrets/scrub.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EvalTaskBodies, EvalTrialBody, ToolCallBody } from "../../protocol/evals/eval-task-bodies.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import type { Document, DocumentWrite } from "../../store/port/documents.ts";
import { cut } from "../score/difference.ts";
import { suiteAsOf } from "../suite/replace-suite.ts";
import { evalPlanOf } from "./eval-plan.ts";
import type { EvalRun } from "./eval-run.ts";
import { KEPT_MAX, keptOutput, resultOfTask, resultsRunId, type TaskResult, type TrialResult } from "./task-result.ts";

/**
 * Bodies of one task: its input, and each trial's output, reasoning and tool calls. Throws `not_found` for a task that the evaluation
 * does not have, and `run_state_conflict` for one that has no score yet.
 */
export async function evalTaskBodies(
  host: Host,
  visible: Visibility,
  runId: string,
  taskId: string,
): Promise<EvalTaskBodies> {
  const run = await visibleRun(host, visible, runId);
  const plan = evalPlanOf(run);
  if (plan === undefined) throw new AppError("not_found", { what: "evaluation", runId });
  const { tenant } = run.owner;
  const { suiteId, suiteVersion, agentId, resolvedAgentVersion } = plan;
  const suite = await suiteAsOf(host, tenant, plan);
  const task = suite.tasks.find((one) => one.taskId === taskId);
  if (task === undefined || !plan.taskIds.includes(taskId)) {
    throw new AppError("not_found", { what: "task", runId, taskId });
  }
  const result = await resultOfTask(host.store, run, plan.taskIds, taskId);
  if (result === undefined) {
    if (isTerminal(run.status)) throw new AppError("not_found", { what: `result of task ${taskId}`, runId, taskId });
    const problem = `task ${taskId} has no score yet; ask again when the evaluation has ended`;
    throw new AppError("run_state_conflict", { runId, runStatus: run.status, problem });
  }
  const bodies = await readBodies(host.store, tenant, resultsRunId(run), taskId);
  return {
    runId,
    suiteId,
    suiteVersion,
    agentId,
    resolvedAgentVersion,
    taskId,
    input: task.input ?? null,
    expected: task.expected,
    ...defined({ fixtures: task.fixtures }),
    score: result.score,
    passed: result.passed,
    bar: result.bar,
    trials: result.trials.map((trial) => trialBody(result, trial, bodies.get(trial.invocationId))),
  };
}

/** Evaluations of older versions kept results of tools only where a judge saw them, and never arguments. */
function trialBody({ findings }: TaskResult, trial: TrialResult, body: TrialBody | undefined): EvalTrialBody {
  const { toolResults = [], criteria, ...figures } = trial;
  const { reasoning, toolCalls, toolCallsLeftOut } = body ?? {};
  return {
    ...figures,
    ...defined({ reasoning }),
    toolCalls: [...(toolCalls ?? toolResults)],
    ...defined({ toolCallsLeftOut }),
    ...(criteria === undefined ? {} : { criteria: [...criteria] }),
    // Trials are counted in each pass, so the number alone names several.
    findings: findings
      .filter((one) => one.trial === trial.trial && one.mode === trial.mode)
      .map(({ trial: _, mode: __, ...finding }) => finding),
  };
}

/** Calls of one trial that are kept; those after them are counted. */
const CALLS_MAX = 200;
const CALL_CHARACTERS = 200_000;

/** Reasoning and tool calls of one trial. Kept apart from its result, which is read whole for every report. */
export interface TrialBody {
  readonly invocationId: string;
  readonly reasoning?: string;
  readonly toolCalls: readonly ToolCallBody[];
  readonly toolCallsLeftOut?: number;
}

/** Writes down what one trial reasoned and called: scrubbed, and cut like outputs are. */
export class BodyRecorder implements Transcript {
  readonly #scrubber: Scrubber;
  readonly #calls: ToolCallBody[] = [];
  #reasoning = "";
  #characters = 0;
  #leftOut = 0;

  constructor(scrubber: Scrubber) {
    this.#scrubber = scrubber;
  }

  reasoned(text: string): void {
    if (this.#reasoning.length >= KEPT_MAX) return;
    this.#reasoning = cut(this.#reasoning === "" ? text : `${this.#reasoning}\n\n${text}`, KEPT_MAX);
  }

  called(call: TranscriptCall): void {
    if (this.#calls.length >= CALLS_MAX || this.#characters >= CALL_CHARACTERS) {
      this.#leftOut += 1;
      return;
    }
    const kept = this.#kept(call);
    this.#characters += JSON.stringify(kept).length;
    this.#calls.push(kept);
  }

  #kept({ tool, arguments: given, answer }: TranscriptCall): ToolCallBody {
    const args = usable(given);
    const scrubber = this.#scrubber;
    const kept = "problem" in args ? `not kept: it ${args.problem}` : keptOutput(args.value ?? null, scrubber);
    const asked = { tool: cut(scrubber.scrubText(tool), 256), arguments: kept };
    if (answer.status === "ok") return { ...asked, result: keptOutput(answer.outcome ?? null, scrubber) };
    const { code, message } = toolError(answer);
    return { ...asked, error: { code, message: scrubber.scrubText(cut(message, KEPT_MAX)) } };
  }

  /** Undefined where nothing was reasoned or called. */
  body(invocationId: string): TrialBody | undefined {
    if (this.#reasoning === "" && this.#calls.length === 0) return undefined;
    return {
      invocationId,
      ...(this.#reasoning === "" ? {} : { reasoning: this.#reasoning }),
      toolCalls: this.#calls,
      ...(this.#leftOut === 0 ? {} : { toolCallsLeftOut: this.#leftOut }),
    };
  }
}

function bodyPrefix(runId: string, taskId: string): string {
  return `${runId}/${taskId}/`;
}

export function bodyWrites({ host, owner, runId }: EvalRun, taskId: string, bodies: readonly TrialBody[]) {
  return bodies.map((body): DocumentWrite => {
    const document: Document = {
      tenant: owner.tenant,
      kind: "eval-body",
      key: `${bodyPrefix(runId, taskId)}${body.invocationId}`,
      runId,
      revision: 1,
      atMs: host.nowMs(),
      body: JSON.stringify(body),
    };
    return { type: "keep", document };
  });
}

/** Bodies of all trials of a task, by invocation. */
async function readBodies(
  store: DocumentReads,
  tenant: string,
  runId: string,
  taskId: string,
): Promise<ReadonlyMap<string, TrialBody>> {
  const all = { prefix: bodyPrefix(runId, taskId) };
  const read = ({ body }: Document) => JSON.parse(body) as TrialBody;
  const bodies = await allDocuments(store, tenant, "eval-body", all, read);
  return new Map(bodies.map((body) => [body.invocationId, body]));
}
