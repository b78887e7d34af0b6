import { AppError } from "../../protocol/errors.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isRecorded } from "../../protocol/tapes/api.ts";

/** Throws for a run that was recorded elsewhere: nothing here could do again what it did. */
export function refuseRecorded(run: Run): void {
  if (!isRecorded(run)) return;
  const { runId } = run;
  throw new AppError("run_read_only", { runId, problem: "it cannot be forked or replayed" });
}
