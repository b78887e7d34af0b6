import { AppError } from "../../protocol/errors.ts";
import type { EventPage, Store, StoredEvent } from "../../store/port/store.ts";

const FIRST_ROWS = 64;
const ROWS_MAX = 1024;
const PAGE_CHARACTERS = 512 * 1024;

export interface EventRange {
  readonly runId: string;
  readonly from: number;
  /** Exclusive: the version of the run that whoever asks goes by. */
  readonly to: number;
}

/** The events of a range in pages of about the same size, however long or short they are. Throws `not_found` when the run goes away. */
export async function* eventPages(
  store: Pick<Store, "readEvents">,
  { runId, from, to }: EventRange,
): AsyncGenerator<readonly StoredEvent[]> {
  let rows = FIRST_ROWS;
  for (let next = from; next < to; ) {
    const page = await store.readEvents(runId, next, Math.min(to - next, rows));
    // Nothing makes a log shorter but the end of its run: it was deleted while it was read.
    if (page.length === 0) throw new AppError("not_found", { what: "run", runId });
    yield page;
    next += page.length;
    rows = rowsLike(page);
  }
}

/** Whether a page that was asked for with this limit is the last of its log. */
export function endsLog(page: EventPage, limit: number): boolean {
  return page.length < limit && page.cut !== true;
}

/** How many rows make a page of the wanted size if they are like those of the last. */
function rowsLike(page: readonly StoredEvent[]): number {
  const characters = page.reduce((sum, { body }) => sum + body.length, 0);
  return Math.min(ROWS_MAX, Math.max(1, Math.floor((page.length * PAGE_CHARACTERS) / characters)));
}
