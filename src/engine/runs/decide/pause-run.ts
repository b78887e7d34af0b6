import { defined } from "../../../protocol/defined.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { DrainPolicy, EventDraft } from "../../../protocol/events.ts";
import { isReplay } from "../../../protocol/runs/forked-from.ts";
import { activeNodes, type Run } from "../../../protocol/runs/run.ts";
import { isTerminal, isWaiting } from "../../../protocol/runs/run-status.ts";

interface PauseRun {
  readonly drainPolicy: DrainPolicy;
  readonly reason?: string;
  readonly by: string;
}

/**
 * `immediate` pauses between events: an attempt under way gets no end, and a resume starts a new attempt. `drain-current-node` lets active
 * nodes end first; then the worker writes `run.paused`. A run with a pending interrupt is not paused.
 */
export function pauseRun(run: Run, command: PauseRun): EventDraft[] {
  refuseUnlessPausable(run);
  const { drainPolicy, by } = command;
  const reason = defined({ reason: command.reason });
  if (drainPolicy === "immediate" || activeNodes(run).length === 0) {
    return [{ type: "run.paused", payload: { drainPolicy, ...reason } }];
  }
  return [{ type: "assay.pause.requested", payload: { drainPolicy, by, ...reason } }];
}

function refuseUnlessPausable(run: Run): void {
  const { runId, status: runStatus } = run;
  if (isTerminal(runStatus)) throw new AppError("run_terminal", { runId, runStatus });
  if (isReplay(run)) {
    throw new AppError("run_state_conflict", { runId, runStatus, problem: "a replay ends by itself, or by a cancel" });
  }
  if (runStatus === "paused") {
    throw new AppError("run_state_conflict", { runId, runStatus, problem: "resume it", pausedAt: run.pausedAt });
  }
  if (run.pause) {
    // The first request was answered "paused", so the refusal has the same status, and says that nodes are still ending.
    throw new AppError("run_state_conflict", {
      runId,
      runStatus: "paused",
      problem: "a pause is already waiting for the current node",
      pausedAt: run.pause.at,
      draining: true,
    });
  }
  if (isWaiting(runStatus)) {
    throw new AppError("run_state_conflict", { runId, runStatus, problem: "answer or cancel its open interrupt" });
  }
  if (runStatus === "cancelling") {
    throw new AppError("run_state_conflict", { runId, runStatus, problem: "it is being cancelled" });
  }
}

interface ResumeRun {
  readonly reason?: string;
  readonly by: string;
}

/** A pause that has not taken effect yet is withdrawn; a paused run continues. */
export function resumeRun(run: Run, command: ResumeRun): EventDraft[] {
  const { runId, status: runStatus } = run;
  const reason = defined({ reason: command.reason });
  if (isTerminal(runStatus)) throw new AppError("run_terminal", { runId, runStatus });
  if (isReplay(run)) {
    throw new AppError("run_state_conflict", { runId, runStatus, problem: "a replay goes on by itself" });
  }
  if (run.pause) return [{ type: "assay.pause.withdrawn", payload: { by: command.by, ...reason } }];
  if (runStatus !== "paused") {
    throw new AppError("run_state_conflict", { runId, runStatus, problem: "only a paused run can be resumed" });
  }
  return [{ type: "run.resumed", payload: reason }];
}
