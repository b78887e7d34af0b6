import { AppError } from "../protocol/errors.ts";
import type { EventDraft } from "../protocol/events.ts";
import { dependants } from "../protocol/evolve-children.ts";
import { isReplay } from "../protocol/forked-from.ts";
import { own } from "../protocol/own.ts";
import type { Cancellation, Run } from "../protocol/run.ts";
import { isTerminal, isWaiting } from "../protocol/run-status.ts";
import type { Refusal, RunWrite } from "../store/store.ts";
import { childEnded } from "./child-ended.ts";
import { cancelRun } from "./decide/cancel-run.ts";
import { workerEnded } from "./decide/chain-event.ts";
import type { Host } from "./host.ts";
import { inLine } from "./in-line.ts";
import { stamp } from "./stamp.ts";
import { endOfHead, isHeadOnly } from "./too-large.ts";

/**
 * What a change of one run means for those above and below it, to be written in the same commit: a parent mirrors that
 * its child waits and learns of its end, and the end of a parent is the end of the children it did not detach.
 */
export async function familyWrites(
  host: Host,
  before: Run,
  after: Run,
  /** Children that begin in the same commit. */
  fresh: readonly RunWrite[] = [],
): Promise<RunWrite[]> {
  // The children that a replay tells of are its source's.
  if (isReplay(after)) return [];
  if (before === after || (after.parent === undefined && Object.keys(after.children).length === 0)) return [];
  const [above, below] = await Promise.all([writesAbove(host, before, after), writesBelow(host, before, after)]);
  return [...above, ...below, ...fresh.map((write) => stillborn(host, after, write))];
}

/** A run that is dispatched in the very turn that ends its parent is cancelled as it begins. */
function stillborn(host: Host, parent: Run, write: RunWrite): RunWrite {
  const link = own(parent.children, write.runId);
  if (!isEnding(parent) || link === undefined || !link.propagates) return write;
  const ended = written(host, write.run, cancelRun(write.run, cascade(parent, link.nodeId)));
  return { ...write, run: ended.run, events: [...write.events, ...ended.events] };
}

/** The same without the children, for an end that they are told of later. */
export async function writesAbove(host: Host, before: Run, after: Run): Promise<RunWrite[]> {
  const { parent, owner, runId, status } = after;
  if (parent === undefined || !isNews(before, after)) return [];
  const above = await host.store.readRun({ tenant: owner.tenant }, parent.runId);
  if (above === undefined || isTerminal(above.status)) return [];
  const link = own(above.children, runId);
  if (link === undefined || !link.waits || isTerminal(link.status)) return [];
  const { nodeId } = link;
  const shown = isWaiting(status) ? status : "running";
  const news: EventDraft[] = isTerminal(status)
    ? [...workerEnded(link, after), await childEnded(host, above, link, after)]
    : [{ type: "assay.child.changed", nodeId, payload: { nodeId, childRunId: runId, status: shown } }];
  const write = written(host, above, news);
  // A parent that ends here, because it cannot be loaded, ends its other children too.
  const siblings = await writesBelow(host, above, write.run);
  const others = siblings.filter((sibling) => sibling.runId !== runId);
  return [write, ...others, ...(await writesAbove(host, above, write.run))];
}

/** Only what a parent shows or waits for. */
function isNews(before: Run, after: Run): boolean {
  if (isTerminal(after.status)) return !isTerminal(before.status);
  return before.status !== after.status && (isWaiting(before.status) || isWaiting(after.status));
}

async function writesBelow(host: Host, before: Run, after: Run): Promise<RunWrite[]> {
  if (!isEnding(after) || isEnding(before)) return [];
  const { tenant } = after.owner;
  const ends = dependants(after.children).map(async ([childRunId, { nodeId }]) => {
    const child = await host.store.readRun({ tenant }, childRunId);
    const drafts = child === undefined ? [] : cancelRun(child, cascade(after, nodeId));
    if (child === undefined || drafts.length === 0) return [];
    const write = written(host, child, drafts);
    return [write, ...(await writesBelow(host, child, write.run))];
  });
  return (await Promise.all(ends)).flat();
}

function isEnding({ status }: Run): boolean {
  return status === "cancelling" || status === "cancelled" || status === "failed";
}

/** However deep a cascade goes, it names the run where it began and the node of that run that leads here. */
function cascade({ cancel, runId, status }: Run, nodeId: string): Cancellation {
  const by = cancel?.by ?? "system";
  if (cancel?.parentRunId === undefined) {
    return { by, reason: reasonOf(status), parentRunId: runId, parentNodeId: nodeId };
  }
  const { reason = "parent-cancelled", parentRunId, parentNodeId } = cancel;
  return { by, reason, parentRunId, ...(parentNodeId === undefined ? {} : { parentNodeId }) };
}

function reasonOf(status: Run["status"]): string {
  return status === "failed" ? "parent-failed" : "parent-cancelled";
}

/**
 * Ends the children of a run that is being cancelled, each in a commit of its own. Where they could be written together
 * with their parent there is nothing left to do here.
 */
export async function endChildren(host: Host, run: Run): Promise<void> {
  for (const [childRunId, { nodeId }] of dependants(run.children)) {
    const child = await host.store.readRun({ tenant: run.owner.tenant }, childRunId);
    if (child === undefined) continue;
    const refusal = await changeRun(host, child, (now) => cancelRun(now, cascade(run, nodeId)));
    // Nobody comes back for the children of a run that has ended.
    if (refusal !== undefined)
      throw new AppError("unavailable", { reason: `Run ${childRunId} could not be ended for now` });
  }
}

const ATTEMPTS = 100;

/** Writes what the host itself decides about a run, with what it means for its family; again when one of them moved. */
export async function changeRun(
  host: Host,
  run: Run,
  decide: (run: Run) => readonly EventDraft[],
  lease: Pick<RunWrite, "heldBy" | "lease"> = {},
): Promise<Refusal | undefined> {
  const { tenant } = run.owner;
  return inLine(host.store, run, async () => {
    let refusal: Refusal | undefined;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const before = await host.store.readRun({ tenant }, run.runId);
      const drafts = before === undefined ? [] : decide(before);
      if (before === undefined || drafts.length === 0) return undefined;
      const write = written(host, before, drafts);
      const family = await familyWrites(host, before, write.run);
      const committed = await host.store.commit({ tenant, runs: [{ ...write, ...lease }, ...family] });
      if (committed.ok) return undefined;
      refusal = committed.refusal;
      if (refusal.type !== "version") return refusal;
    }
    return refusal;
  });
}

/** Ends a run that is too large to load. Does nothing when it moved meanwhile: the next reader finds it as it is then. */
export async function endHeadOnly(host: Host, head: Run): Promise<void> {
  const write = written(host, head, []);
  const family = await familyWrites(host, head, write.run);
  const { tenant } = head.owner;
  const committed = await host.store.commit({ tenant, runs: [{ ...write, lease: "release" }, ...family] });
  if (!committed.ok && committed.refusal.type !== "version") {
    throw new AppError("unavailable", { reason: `Run ${head.runId} could not be ended for now` });
  }
}

/** Of a run that cannot be loaded the only change is its end. */
function written(host: Host, before: Run, drafts: readonly EventDraft[]): RunWrite {
  const { runId, version } = before;
  const changes = isHeadOnly(before) ? endOfHead(host, before) : drafts;
  const { run, events } = stamp(before, changes, { runId, nowMs: host.nowMs(), newId: host.newId });
  return { runId, expectedVersion: version, events, run };
}
