import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { EventDraft } from "../../protocol/events.ts";
import { dependants } from "../../protocol/evolve/children.ts";
import { own } from "../../protocol/own.ts";
import { isReplay } from "../../protocol/runs/forked-from.ts";
import type { Cancellation, Run } from "../../protocol/runs/run.ts";
import { isTerminal, isWaiting } from "../../protocol/runs/run-status.ts";
import type { Refusal, RunWrite } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { cancelRun } from "../runs/decide/cancel-run.ts";
import { workerEnded } from "../runs/decide/chain-event.ts";
import { stamp } from "../runs/stamp.ts";
import { endOfHead, isHeadOnly } from "../runs/too-large.ts";
import { roomOf } from "../worker/run-room.ts";
import { childEnded } from "./child-ended.ts";
import { type FamilyReads, FamilyTooLarge, inFamilyTurn } from "./family-reads.ts";
import { type Relative, serialize } from "./serialize.ts";

/**
 * What a change of one run means for those above and below it, to be written in the same commit: a parent mirrors that
 * its child waits and learns of its end, and the end of a parent is the end of the children it did not detach.
 */
export async function familyWrites(
  host: Host,
  reads: FamilyReads,
  before: Run,
  after: Run,
  /** Children that begin in the same commit. */
  fresh: readonly RunWrite[] = [],
): Promise<RunWrite[]> {
  // The children that a replay tells of are its source's.
  if (isReplay(after)) return [];
  if (before === after || (after.parent === undefined && Object.keys(after.children).length === 0)) return [];
  const [above, below] = await Promise.all([
    writesAbove(host, reads, before, after),
    writesBelow(host, reads, before, after),
  ]);
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
export async function writesAbove(host: Host, reads: FamilyReads, before: Run, after: Run): Promise<RunWrite[]> {
  const { parent, owner, runId, status } = after;
  if (parent === undefined || !isNews(before, after)) return [];
  if (reads.isFull && !isTerminal(status)) return [];
  const above = await reads.read(owner.tenant, parent.runId, host.store);
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
  const siblings = await writesBelow(host, reads, above, write.run);
  const others = siblings.filter((sibling) => sibling.runId !== runId);
  return [write, ...others, ...(await writesAbove(host, reads, above, write.run))];
}

/** Only what a parent shows or waits for. */
function isNews(before: Run, after: Run): boolean {
  if (isTerminal(after.status)) return !isTerminal(before.status);
  return before.status !== after.status && (isWaiting(before.status) || isWaiting(after.status));
}

async function writesBelow(host: Host, reads: FamilyReads, before: Run, after: Run): Promise<RunWrite[]> {
  if (!isEnding(after) || isEnding(before)) return [];
  const { tenant } = after.owner;
  const children = await activeChildren(host, after);
  reads.requireRoom(
    after,
    children.reduce((sum, { stateBytes }) => sum + stateBytes, 0),
  );
  const ends = children.map(async ({ childRunId, nodeId }) => {
    const child = await reads.read(tenant, childRunId, host.store);
    const drafts = child === undefined ? [] : cancelRun(child, cascade(after, nodeId));
    if (child === undefined || drafts.length === 0) return [];
    const write = written(host, child, drafts);
    return [write, ...(await writesBelow(host, reads, child, write.run))];
  });
  return (await Promise.all(ends)).flat();
}

interface ActiveChild {
  readonly childRunId: string;
  readonly nodeId: string;
  readonly stateBytes: number;
}

/** The children that end with a run and have not been asked to yet. */
async function activeChildren({ store }: Pick<Host, "store">, { children, owner }: Run): Promise<ActiveChild[]> {
  const known = dependants(children);
  if (known.length === 0) return [];
  const found = await store.runOutlines(
    owner.tenant,
    known.map(([runId]) => runId),
  );
  const active = found.filter(({ status }) => !isTerminal(status) && status !== "cancelling");
  const bytes = new Map(active.map(({ runId, stateBytes }) => [runId, stateBytes]));
  return known.flatMap(([childRunId, { nodeId }]) => {
    const stateBytes = bytes.get(childRunId);
    return stateBytes === undefined ? [] : [{ childRunId, nodeId, stateBytes }];
  });
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
  return defined({ by, reason, parentRunId, parentNodeId });
}

function reasonOf(status: Run["status"]): string {
  return status === "failed" ? "parent-failed" : "parent-cancelled";
}

/**
 * Ends the children of a run that is being cancelled, each in a commit of its own. Where they could be written together
 * with their parent there is nothing left to do here.
 */
export async function endChildren(host: Host, run: Run, change: typeof changeRun = changeRun): Promise<void> {
  const { owner } = run;
  const rootRunId = run.parent?.rootRunId ?? run.runId;
  for (const { childRunId, nodeId } of await activeChildren(host, run)) {
    const child = { runId: childRunId, owner, parent: { rootRunId } };
    const refusal = await change(host, child, (now) => cancelRun(now, cascade(run, nodeId)));
    // Nobody comes back for the children of a run that has ended.
    if (refusal !== undefined)
      throw new AppError("unavailable", { reason: `Run ${childRunId} could not be ended for now` });
  }
}

/** How often children that are too large to be written together are ended before their parent. */
const ENDED_FIRST = 20;

/**
 * Reads the family of a run and commits what becomes of it. Children that are too large to be written with their parent are ended
 * before it, each in a commit of its own; with `together`, `FamilyTooLarge` is thrown instead.
 */
export async function withFamily<T>(
  host: Host,
  work: (reads: FamilyReads) => Promise<T>,
  { together = false }: { readonly together?: boolean } = {},
): Promise<T> {
  const needs = { store: host.store, room: roomOf(host) };
  for (let attempt = 0; ; attempt++) {
    try {
      return await inFamilyTurn(needs, work);
    } catch (error) {
      if (!(error instanceof FamilyTooLarge) || together || attempt === ENDED_FIRST) throw error;
      // Not in line: the caller may be in the line of the family itself.
      await endChildren(host, error.run, changeNow);
    }
  }
}

const ATTEMPTS = 100;

type ChangedRun = Relative & Pick<Run, "owner">;

/** Writes what the host itself decides about a run, with what it means for its family; again when one of them moved. */
export async function changeRun(
  host: Host,
  run: ChangedRun,
  decide: (run: Run) => readonly EventDraft[],
  lease: Pick<RunWrite, "heldBy" | "lease"> = {},
): Promise<Refusal | undefined> {
  return serialize(host.store, run, () => changeNow(host, run, decide, lease));
}

async function changeNow(
  host: Host,
  { runId, owner: { tenant } }: ChangedRun,
  decide: (run: Run) => readonly EventDraft[],
  lease: Pick<RunWrite, "heldBy" | "lease"> = {},
): Promise<Refusal | undefined> {
  let refusal: Refusal | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const committed = await withFamily(host, async (reads) => {
      const before = await reads.read(tenant, runId);
      const drafts = before === undefined ? [] : decide(before);
      if (before === undefined || drafts.length === 0) return undefined;
      const write = written(host, before, drafts);
      const family = await familyWrites(host, reads, before, write.run);
      return host.store.commit({ tenant, runs: [{ ...write, ...lease }, ...family] });
    });
    if (committed === undefined || committed.ok) return undefined;
    refusal = committed.refusal;
    if (refusal.type !== "version") return refusal;
  }
  return refusal;
}

/** Ends a run that is too large to load. Does nothing when it moved meanwhile: the next reader finds it as it is then. */
export async function endHeadOnly(host: Host, head: Run): Promise<void> {
  const write = written(host, head, []);
  const { tenant } = head.owner;
  const committed = await withFamily(host, async (reads) => {
    const family = await familyWrites(host, reads, head, write.run);
    return host.store.commit({ tenant, runs: [{ ...write, lease: "release" }, ...family] });
  });
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
