import { setImmediate as nextTurn } from "node:timers/promises";
import { visibleRun } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { fitting } from "../../engine/runs/read-run.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import { EVAL_WORKFLOW_ID, type EvalSummary } from "../../protocol/evals/api.ts";
import type { EvalEntry, EvalListQuery, EvalPage } from "../../protocol/evals/baselines.ts";
import { isId } from "../../protocol/id.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { type EvalPlan, evalPlanOf } from "./eval-plan.ts";

const DEFAULT_LIMIT = 50;
/** The number of evaluations read at once: one of many tasks is large. */
const AT_ONCE = 20;
/** Bytes of their states that are read at once; one is, however large. */
const PAGE_BYTES = 4_000_000;
/** Looked at for one page, however few of them are wanted. */
const LOOKED_AT_MAX = 1000;

/** A page of evaluations, newest first; it may be short, or empty, while a cursor says that there is more. */
export async function listEvals(
  { store }: Pick<Host, "store">,
  visible: Visibility,
  { limit = DEFAULT_LIMIT, cursor, suiteId, agentId, status }: EvalListQuery,
): Promise<EvalPage> {
  if (cursor !== undefined && !(cursor.startsWith("run-") && isId(cursor))) {
    throw validationError("cursor is not one this host gave out");
  }
  const evals: EvalEntry[] = [];
  let before = cursor;
  for (let looked = 0; looked < LOOKED_AT_MAX; looked += AT_ONCE) {
    const query = {
      workflowId: EVAL_WORKFLOW_ID,
      limit: AT_ONCE,
      ...defined({ status, before }),
    };
    const sizes = await store.stateBytes(visible, query);
    const limited = fitting(sizes, PAGE_BYTES);
    const isLast = limited === sizes.length && limited < AT_ONCE;
    const page = limited === 0 ? [] : await store.listRuns(visible, { ...query, limit: limited });
    for (const run of page) {
      const entry = evalEntry(run);
      const isWanted = (suiteId ?? entry?.suiteId) === entry?.suiteId && (agentId ?? entry?.agentId) === entry?.agentId;
      before = run.runId;
      if (entry !== undefined && isWanted && evals.push(entry) === limit) {
        return run === page.at(-1) && isLast ? { evals } : { evals, nextCursor: before };
      }
    }
    if (isLast) return { evals };
    await nextTurn();
  }
  return before === undefined ? { evals } : { evals, nextCursor: before };
}

/** Throws `not_found` for what is no evaluation, too. */
export async function getEval(host: Host, visible: Visibility, runId: string): Promise<EvalEntry> {
  const entry = evalEntry(await visibleRun(host, visible, runId));
  if (entry === undefined) throw new AppError("not_found", { what: "evaluation", runId });
  return entry;
}

function evalEntry(run: Run): EvalEntry | undefined {
  const plan = evalPlanOf(run);
  if (plan === undefined) return undefined;
  const summary = run.status === "completed" ? (run.outputs as unknown as EvalSummary) : undefined;
  return {
    runId: run.runId,
    status: run.status,
    suiteId: plan.suiteId,
    suiteVersion: plan.suiteVersion,
    agentId: plan.agentId,
    resolvedAgentVersion: plan.resolvedAgentVersion,
    modes: plan.modes,
    taskCount: plan.taskIds.length,
    trialsPerTask: plan.trials,
    ...defined({ baselineRunId: plan.baselineRunId, baselineFileSha256: plan.baselineFileSha256 }),
    startedAt: run.startedAt,
    ...defined({ endedAt: run.endedAt }),
    ...(summary === undefined
      ? {}
      : { aggregateScore: summary.aggregateScore, passed: summary.passed, passedCount: summary.passedCount }),
    ...(summary?.regression === undefined ? {} : { scoreDelta: summary.regression.scoreDelta }),
    ...failureOf(run),
  };
}

export interface EndedEval {
  readonly run: Run;
  readonly plan: EvalPlan;
}

/** Throws `not_found` for what is no evaluation, and `run_state_conflict` for one that has not completed. */
export async function completedEval(host: Host, visible: Visibility, runId: string): Promise<EndedEval> {
  const found = await endedEval(host, visible, runId);
  if (found.run.status === "completed") return found;
  throw conflict(found.run, `ended as ${found.run.status}`);
}

/** Includes stopped evaluations: their finished tasks are kept. */
export async function endedEval(host: Host, visible: Visibility, runId: string): Promise<EndedEval> {
  const run = await visibleRun(host, visible, runId);
  const plan = evalPlanOf(run);
  if (plan === undefined) throw new AppError("not_found", { what: "evaluation", runId });
  if (!isTerminal(run.status)) throw conflict(run, "has not ended");
  return { run, plan };
}

function conflict({ runId, status: runStatus }: Run, state: string): AppError {
  return new AppError("run_state_conflict", { runId, runStatus, problem: `the evaluation ${state}` });
}

/** The error of a failed run. */
export function failureOf({ error }: Run): { readonly error?: string; readonly errorMessage?: string } {
  if (error === undefined) return {};
  // Messages of `eval_` errors are written here and quote nothing; others may repeat text of an agent or a server.
  return { error: error.code, ...(error.code.startsWith("eval_") ? { errorMessage: error.message } : {}) };
}
