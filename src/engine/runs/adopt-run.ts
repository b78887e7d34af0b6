import { AppError } from "../../protocol/errors.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Host } from "../host.ts";

/**
 * Takes a run into the hands of this process without waiting for the lease of whoever had it. Only for those who know that he is gone:
 * a process that has the database for itself.
 */
export async function adoptRun(host: Pick<Host, "store" | "localWorker">, run: Run): Promise<void> {
  const { runId, version, owner } = run;
  const lease = host.localWorker?.reserve(owner.tenant);
  if (lease === undefined) throw new AppError("unavailable", { reason: `Nobody here can take run ${runId}` });
  let taken = false;
  try {
    const write = { runId, expectedVersion: version, events: [], run, lease };
    taken = (await host.store.commit({ tenant: owner.tenant, runs: [write] })).ok;
  } finally {
    if (!taken) host.localWorker?.giveBack(owner.tenant);
  }
  if (!taken) throw new AppError("run_version_conflict", { runId });
  host.localWorker?.take(run);
}
