import type { EventDraft } from "../protocol/events.ts";
import type { Run } from "../protocol/run.ts";
import { isTerminal } from "../protocol/run-status.ts";
import { failRun } from "./decide/end-run.ts";
import type { Host } from "./host.ts";
import { stamp } from "./stamp.ts";

/**
 * Ends a run that this host cannot execute. Needs neither its plan nor a turn, for those may be what is broken. What
 * went wrong is in the host's own log: it is about the host and not for everyone who may read the run.
 */
export async function deadLetter(host: Host, workerId: string, { runId, owner }: Run, attempts: number): Promise<void> {
  const { tenant } = owner;
  const before = await host.store.readRun({ tenant }, runId);
  if (before === undefined || isTerminal(before.status)) return;
  const message = `This host could not execute the run in ${attempts} attempts; its log says why.`;
  const dead: EventDraft = { type: "run.dead_lettered", payload: { runId, reason: "engine_error", attempts } };
  const drafts = [dead, ...failRun(before, { code: "run_dead_lettered", message })];
  const { run, events } = stamp(before, drafts, { runId, nowMs: host.nowMs(), newId: host.newId });
  const write = { runId, expectedVersion: before.version, events, run, heldBy: workerId, lease: "release" as const };
  await host.store.commit({ tenant, runs: [write] });
}
