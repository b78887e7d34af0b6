import type { EventDraft } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { RunWrite } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { stamp } from "../runs/stamp.ts";
import { familyWrites, withFamily } from "./family.ts";
import type { FamilyReads } from "./family-reads.ts";

interface RunChange {
  readonly run: Run;
  readonly events: readonly EventDraft[];
}

/**
 * Writes for several runs in one commit, by run id. Runs of one family may be among them, and one may be named twice:
 * each is decided on as the changes before it leave it, and is written once.
 */
export function writeRuns(host: Host, changes: readonly RunChange[]): Promise<ReadonlyMap<string, RunWrite>> {
  return withFamily(host, (reads) => writesOf(host, reads, changes));
}

async function writesOf(
  host: Host,
  reads: FamilyReads,
  changes: readonly RunChange[],
): Promise<ReadonlyMap<string, RunWrite>> {
  const writes = new Map<string, RunWrite>();
  const add = (write: RunWrite): void => {
    const before = writes.get(write.runId);
    const joined = before && { expectedVersion: before.expectedVersion, events: [...before.events, ...write.events] };
    writes.set(write.runId, { ...write, ...joined });
  };
  const store: Host["store"] = {
    ...host.store,
    readRun: async (visible, runId) => writes.get(runId)?.run ?? host.store.readRun(visible, runId),
  };
  for (const { run, events: drafts } of changes) {
    const { runId } = run;
    const before = writes.get(runId)?.run ?? run;
    const after = stamp(before, drafts, { runId, nowMs: host.nowMs(), newId: host.newId });
    add({ runId, expectedVersion: before.version, events: after.events, run: after.run });
    for (const write of await familyWrites({ ...host, store }, reads, before, after.run)) add(write);
  }
  return writes;
}
