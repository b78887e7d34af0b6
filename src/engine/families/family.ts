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
import { workerEnded } from "../runs/decide/chain-event.ts";
import { cancelRun } from "../runs/decide/end-run.ts";
import { stamp } from "../runs/stamp.ts";
import { endOfHead, isHeadOnly } from "../runs/too-large.ts";
import { type Relative, serialize } from "../shared/serialize.ts";
import { roomOf } from "../worker/run-room.ts";
import { childEnded } from "./child-runs.ts";
import { type FamilyReads, FamilyTooLarge, inFamilyTurn } from "./family-reads.ts";

/**
 * The writes to the ancestors and descendants of a changed run, for the same commit: a parent records that its child waits or has ended, and
 * the end of a parent cancels the children that it did not detach.
 */
export async function familyWrites(
  host: Host,
  reads: FamilyReads,
  before: Run,
  after: Run,
  /** Children that begin in the same commit. */
  fresh: readonly RunWrite[] = [],
): Promise<RunWrite[]> {
  // The children in the log of a replay are those of its source.
  if (isReplay(after)) return [];
  if (before === after || (after.parent === undefined && Object.keys(after.children).length === 0)) return [];
  const [above, below] = await Promise.all([
    writesAbove(host, reads, before, after),
    writesBelow(host, reads, before, after),
  ]);
  return [...above, ...below, ...fresh.map((write) => stillborn(host, after, write))];
}

/** A child that is started in the turn that ends its parent is cancelled at once. */
function stillborn(host: Host, parent: Run, write: RunWrite): RunWrite {
  const link = own(parent.children, write.runId);
  if (!isEnding(parent) || link === undefined || !link.propagates) return write;
  const ended = written(host, write.run, cancelRun(write.run, cascade(parent, link.nodeId)));
  return { ...write, run: ended.run, events: [...write.events, ...ended.events] };
}

/** The writes to the ancestors alone, where the descendants are written later. */
export async function writesAbove(host: Host, reads: FamilyReads, before: Run, after: Run): Promise<RunWrite[]> {
  const { parent, owner, runId, status } = after;
  if (parent === undefined || !concernsParent(before, after)) return [];
  if (reads.isFull && !isTerminal(status)) return [];
  const above = await reads.read(owner.tenant, parent.runId, host.store);
  if (above === undefined || isTerminal(above.status)) return [];
  const link = own(above.children, runId);
  if (link === undefined || !link.waits || isTerminal(link.status)) return [];
  const { nodeId } = link;
  const shown = isWaiting(status) ? status : "running";
  const events: EventDraft[] = isTerminal(status)
    ? [...workerEnded(link, after), await childEnded(host, above, link, after)]
    : [{ type: "assay.child.changed", nodeId, payload: { nodeId, childRunId: runId, status: shown } }];
  const write = written(host, above, events);
  // A parent that cannot be loaded ends here, and so do its other children.
  const siblings = await writesBelow(host, reads, above, write.run);
  const others = siblings.filter((sibling) => sibling.runId !== runId);
  return [write, ...others, ...(await writesAbove(host, reads, above, write.run))];
}

/** Whether a parent shows a change of its child, or waits for it. */
function concernsParent(before: Run, after: Run): boolean {
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

/** The children that end with a run and are not being cancelled yet. */
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

/** The cancellation of a child. At any depth it names the run where the cascade began, and the node of that run. */
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

/** Ends the children of a run that is being cancelled, each in a commit of its own. None are left where they were written with their parent. */
export async function endChildren(host: Host, run: Run, change: typeof changeRun = changeRun): Promise<void> {
  const { owner } = run;
  const rootRunId = run.parent?.rootRunId ?? run.runId;
  for (const { childRunId, nodeId } of await activeChildren(host, run)) {
    const child = { runId: childRunId, owner, parent: { rootRunId } };
    const refusal = await change(host, child, (now) => cancelRun(now, cascade(run, nodeId)));
    // The children must end before their parent: no worker returns to an ended run.
    if (refusal !== undefined) throw notEnded(childRunId);
  }
}

/** How often children that are too large to be written together are ended before their parent. */
const ENDED_FIRST = 20;

/**
 * Reads the family of a run and commits its changes. Children that are too large to be written with their parent are ended before it, each in
 * a commit of its own; with `together`, `FamilyTooLarge` is thrown instead.
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
      // Not serialized: the caller may hold the turn of the family itself.
      await endChildren(host, error.run, changeNow);
    }
  }
}

const ATTEMPTS = 100;

type ChangedRun = Relative & Pick<Run, "owner">;

/** Writes a decision of the host about a run, with the changes of its family; tried again where one of the runs changed meanwhile. */
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

/** Ends a run that is too large to load. Does nothing where the run changed meanwhile. */
export async function endHeadOnly(host: Host, head: Run): Promise<void> {
  const write = written(host, head, []);
  const { tenant } = head.owner;
  const committed = await withFamily(host, async (reads) => {
    const family = await familyWrites(host, reads, head, write.run);
    return host.store.commit({ tenant, runs: [{ ...write, lease: "release" }, ...family] });
  });
  if (!committed.ok && committed.refusal.type !== "version") throw notEnded(head.runId);
}

function notEnded(runId: string): AppError {
  return new AppError("unavailable", { reason: `Run ${runId} could not be ended for now` });
}

/** The write of drafts to a run. A run that cannot be loaded is ended instead. */
function written(host: Host, before: Run, drafts: readonly EventDraft[]): RunWrite {
  const { runId, version } = before;
  const changes = isHeadOnly(before) ? endOfHead(host, before) : drafts;
  const { run, events } = stamp(before, changes, { runId, nowMs: host.nowMs(), newId: host.newId });
  return { runId, expectedVersion: version, events, run };
}
