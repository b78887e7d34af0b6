import { AppError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { RunOutline } from "../../store/port/store.ts";
import { visibleRun } from "../execute.ts";
import type { ExternalEvent } from "../gates/decide/deliver-event.ts";
import type { Host } from "../host.ts";
import { roomOf } from "../worker/run-room.ts";

/** All that wait for an event get it in one commit, and a commit has its bounds. */
const WAITS_MAX = 1000;

/** Runs of so many bytes together are read for one event at a time. */
const LARGE_BYTES = 1_048_576;

/**
 * Calls `deliver` with the runs that wait for the event, and the one that was last to: it says why nobody does, when nobody does. The runs
 * are held until their commit returns, so they have a limit together.
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
    throw new AppError("validation_error", { problem, correlationId });
  }
  const runs = await sized(host, reach, [...newest, ...waiting]);
  const { maxRunBytes } = roomOf(host);
  if (runs.length > 2 && bytesOf(runs) > maxRunBytes) {
    const problem = `the ${runs.length} runs that wait for this event have more than ${maxRunBytes} bytes together; give them narrower correlations`;
    throw new AppError("validation_error", { problem, correlationId });
  }
  return withRuns(host, reach, runs, deliver);
}

/** The same with some of those that wait for it, the longest waiting among them unless there are very many. */
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

/** In the order of the interrupts; a run that is gone by now has no bytes, and reading it says so. */
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
