import { validationError } from "../../protocol/errors.ts";
import type { EventDraft } from "../../protocol/events.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { RunOutline, RunWrite } from "../../store/port/store.ts";
import { visibleRun } from "../execute.ts";
import type { ExternalEvent } from "../gates/decide/deliver-event.ts";
import type { Host } from "../host.ts";
import { stamp } from "../runs/stamp.ts";
import { roomOf } from "../worker/run-room.ts";
import { familyWrites, withFamily } from "./family.ts";
import type { FamilyReads } from "./family-reads.ts";

/** Waits for one event, at most: all are answered in one commit. */
const WAITS_MAX = 1000;

/** Runs of more bytes together are read for one event at a time. */
const LARGE_BYTES = 1_048_576;

/**
 * Calls `deliver` with the runs that wait for the event, and the run of the newest closed wait, which determines the refusal where there is no
 * open one. The runs are held until their commit returns, so their bytes together are limited.
 */
export async function withRunsAbout<T>(
  host: Host,
  reach: Visibility,
  event: ExternalEvent,
  deliver: (runs: Run[]) => Promise<T>,
): Promise<T> {
  const { correlationId, eventType } = event;
  const about = { correlationId, eventType };
  const [newest, waiting] = await Promise.all([
    host.store.interruptsByCorrelation(reach, { ...about, open: false, limit: 1 }),
    host.store.interruptsByCorrelation(reach, { ...about, open: true, limit: WAITS_MAX + 1 }),
  ]);
  if (waiting.length > WAITS_MAX) {
    const problem = `more than ${WAITS_MAX} interrupts wait for this event; give them narrower correlations`;
    throw validationError(problem, { correlationId });
  }
  const runs = await sized(host, reach, [...newest, ...waiting]);
  const { maxRunBytes } = roomOf(host);
  if (runs.length > 2 && bytesOf(runs) > maxRunBytes) {
    const problem = `the ${runs.length} runs that wait for this event have more than ${maxRunBytes} bytes together; give them narrower correlations`;
    throw validationError(problem, { correlationId });
  }
  return withRuns(host, reach, runs, deliver);
}

/** The same with as many of the waiting runs as fit into memory. */
export async function withRunsWaiting<T>(
  host: Host,
  reach: Visibility,
  event: ExternalEvent,
  deliver: (runs: Run[]) => Promise<T>,
): Promise<T> {
  const { correlationId, eventType } = event;
  const query = { correlationId, eventType, open: true, limit: WAITS_MAX };
  const runs = await sized(host, reach, await host.store.interruptsByCorrelation(reach, query));
  const { maxRunBytes } = roomOf(host);
  let bytes = 0;
  const end = runs.findIndex(({ stateBytes }, i) => {
    bytes += stateBytes;
    return i > 0 && bytes > maxRunBytes;
  });
  return withRuns(host, reach, end < 0 ? runs : runs.slice(0, end), deliver);
}

type Sized = Pick<RunOutline, "runId" | "stateBytes">;

/** The runs of interrupts with their sizes, in order; a deleted run has size 0, and reading it fails. */
async function sized(host: Host, { tenant }: Visibility, of: readonly { readonly runId: string }[]): Promise<Sized[]> {
  const ids = [...new Set(of.map(({ runId }) => runId))];
  if (ids.length === 0) return [];
  const found = new Map((await host.store.runOutlines(tenant, ids)).map((run) => [run.runId, run.stateBytes]));
  return ids.map((runId) => ({ runId, stateBytes: found.get(runId) ?? 0 }));
}

function bytesOf(runs: readonly Sized[]): number {
  return runs.reduce((sum, { stateBytes }) => sum + stateBytes, 0);
}

async function withRuns<T>(
  host: Host,
  reach: Visibility,
  runs: readonly Sized[],
  deliver: (runs: Run[]) => Promise<T>,
): Promise<T> {
  const done = bytesOf(runs) > LARGE_BYTES ? await roomOf(host).largeEvent() : undefined;
  try {
    return await deliver(await Promise.all(runs.map(({ runId }) => visibleRun(host, reach, runId))));
  } finally {
    done?.();
  }
}

interface RunChange {
  readonly run: Run;
  readonly events: readonly EventDraft[];
}

/**
 * Writes for several runs in one commit, by run id. Runs may be of one family, and one may be named twice: each change applies to the run after
 * the changes before it, and each run is written once.
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
