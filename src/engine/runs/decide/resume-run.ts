import { defined } from "../../../protocol/defined.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { EventDraft } from "../../../protocol/events.ts";
import { isReplay } from "../../../protocol/runs/forked-from.ts";
import type { Run } from "../../../protocol/runs/run.ts";
import { isTerminal } from "../../../protocol/runs/run-status.ts";

interface ResumeRun {
  readonly reason?: string;
  readonly by: string;
}

/** A pause that has not taken effect yet is withdrawn; a paused run goes on. */
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
