import type { RunEvent } from "../../protocol/events.ts";
import type { Store, StoredEvent } from "../../store/port/store.ts";

const PAGE = 500;

/** The events of a run with a sequence below `toSequence`, read in pages; fewer when there are no more. */
export async function readLog(
  store: Pick<Store, "readEvents">,
  runId: string,
  toSequence: number,
): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  while (events.length < toSequence) {
    const page = await store.readEvents(runId, events.length, Math.min(PAGE, toSequence - events.length));
    if (page.length === 0) break;
    for (const stored of page) events.push(runEvent(stored));
  }
  return events;
}

export function runEvent({ body, sealed }: StoredEvent): RunEvent {
  const doc = JSON.parse(body) as RunEvent;
  return sealed === undefined ? doc : ({ ...doc, sealed: JSON.parse(sealed) } as RunEvent);
}
