import { AppError } from "../../protocol/errors.ts";
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

const FIRST_ROWS = 64;
const ROWS_MAX = 1024;
const PAGE_CHARACTERS = 512 * 1024;

export interface EventRange {
  readonly runId: string;
  readonly from: number;
  /** Exclusive: usually the version of the run that the caller has read. */
  readonly to: number;
}

/** The events of a range in pages of about the same number of characters. Throws `not_found` where the run is deleted meanwhile. */
export async function* eventPages(
  store: Pick<Store, "readEvents">,
  { runId, from, to }: EventRange,
): AsyncGenerator<readonly StoredEvent[]> {
  let rows = FIRST_ROWS;
  for (let next = from; next < to; ) {
    const page = await store.readEvents(runId, next, Math.min(to - next, rows));
    // A log only becomes shorter when its run is deleted.
    if (page.length === 0) throw new AppError("not_found", { what: "run", runId });
    yield page;
    next += page.length;
    rows = rowsLike(page);
  }
}

/** Rows for a page of the wanted size, if they are like those of the last page. */
function rowsLike(page: readonly StoredEvent[]): number {
  const characters = page.reduce((sum, { body }) => sum + body.length, 0);
  return Math.min(ROWS_MAX, Math.max(1, Math.floor((page.length * PAGE_CHARACTERS) / characters)));
}
