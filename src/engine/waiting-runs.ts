import { AppError } from "../protocol/errors.ts";
import type { Visibility } from "../protocol/identity.ts";
import type { Run } from "../protocol/run.ts";
import type { ExternalEvent } from "./decide/deliver-event.ts";
import { visibleRun } from "./execute.ts";
import type { Host } from "./host.ts";

/** All that wait for an event get it in one commit, and a commit has its bounds. */
const WAITS_MAX = 1000;

/** The runs that wait for the event, and the one that was last to: it says why nobody does, when nobody does. */
export async function runsAbout(host: Host, reach: Visibility, event: ExternalEvent): Promise<Run[]> {
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
  return read(host, reach, [...newest, ...waiting]);
}

/** Some of those that wait for it, the longest waiting among them unless there are very many. */
export async function runsWaiting(host: Host, reach: Visibility, event: ExternalEvent): Promise<Run[]> {
  const { correlationId, eventType } = event;
  const query = { correlationId, eventType, open: true, limit: WAITS_MAX };
  return read(host, reach, await host.store.interruptsByCorrelation(reach, query));
}

function read(host: Host, reach: Visibility, of: readonly { readonly runId: string }[]): Promise<Run[]> {
  const ids = [...new Set(of.map(({ runId }) => runId))];
  return Promise.all(ids.map((runId) => visibleRun(host, reach, runId)));
}
