import type { Store, StoredEvent } from "../store/store.ts";
import type { Reply, RequestContext } from "./handler.ts";
import type { RunFeeds } from "./run-feeds.ts";
import { sendList } from "./send-list.ts";

export interface EventArray {
  readonly runId: string;
  readonly from: number;
  /** Exclusive: the version of the run that the rest of the answer describes. */
  readonly to: number;
  /** The texts around the array's elements. */
  readonly before: string;
  readonly after: string;
}

const FIRST_ROWS = 64;
const ROWS_MAX = 1024;
const PAGE_CHARACTERS = 512 * 1024;

/** A JSON answer with all events of the range, from the stored texts as they are. */
export function sendEvents(
  context: RequestContext,
  { settings: { stallMs }, report }: Pick<RunFeeds, "settings" | "report">,
  answer: EventArray,
): Promise<Reply> {
  const { host, reply, requestId } = context;
  const { before, after } = answer;
  return sendList({ host, reply, requestId, report }, { before, items: pages(host.store, answer), after, stallMs });
}

async function* pages(store: Store, { runId, from, to }: EventArray): AsyncGenerator<readonly string[]> {
  let rows = FIRST_ROWS;
  for (let next = from; next < to; ) {
    const page = await store.readEvents(runId, next, Math.min(to - next, rows));
    if (page.length === 0) throw new Error(`run ${runId} is at version ${to} but has no event ${next}`);
    yield page.map((event) => event.body);
    next += page.length;
    rows = rowsLike(page);
  }
}

/** How many rows make a page of the wanted size if they are like those of the last. */
function rowsLike(page: readonly StoredEvent[]): number {
  const characters = page.reduce((sum, { body }) => sum + body.length, 0);
  return Math.min(ROWS_MAX, Math.max(1, Math.floor((page.length * PAGE_CHARACTERS) / characters)));
}
