import { AppError } from "../../protocol/errors.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Lease } from "../../store/port/store.ts";
import type { Host } from "../host.ts";

/**
 * Commits a run under a lease of this process's worker, and gives the run to the worker. Where the worker has no place, the run is committed
 * without a lease and waits in the queue.
 */
export async function handOver(
  { localWorker }: Pick<Host, "localWorker">,
  run: Run,
  commit: (lease: Lease | undefined) => Promise<void>,
): Promise<void> {
  const { tenant } = run.owner;
  const lease = localWorker?.reserve(tenant);
  try {
    await commit(lease);
  } catch (error) {
    if (lease) localWorker?.giveBack(tenant);
    throw error;
  }
  if (lease) localWorker?.take(run);
}

/** Takes over a run without waiting for the lease of its last worker. Only for a process that has the database to itself. */
export async function adoptRun(host: Pick<Host, "store" | "localWorker">, run: Run): Promise<void> {
  const { runId, version, owner } = run;
  await handOver(host, run, async (lease) => {
    if (lease === undefined)
      throw new AppError("unavailable", { reason: `This process has no worker for run ${runId}` });
    const write = { runId, expectedVersion: version, events: [], run, lease };
    const { ok } = await host.store.commit({ tenant: owner.tenant, runs: [write] });
    if (!ok) throw new AppError("run_version_conflict", { runId });
  });
}
