import { AppError } from "../../protocol/errors.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Store } from "../../store/port/store.ts";

/**
 * Throws `not_found` for a run that is being deleted. Its judgments may go some at a time, and those that are left would decide without
 * the others; so it is to be asked after they were read.
 */
export async function requireKept(
  store: Pick<Store, "readTombstone">,
  { runId, owner: { tenant } }: Pick<Run, "runId" | "owner">,
): Promise<void> {
  if ((await store.readTombstone({ tenant }, runId)) !== undefined)
    throw new AppError("not_found", { what: "run", runId });
}
