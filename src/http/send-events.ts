import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { StoredEvent } from "../store/store.ts";
import type { Reply, RequestContext } from "./handler.ts";

export interface EventArray {
  readonly runId: string;
  readonly from: number;
  /** Exclusive: the version of the run that the rest of the answer describes. */
  readonly to: number;
  readonly before: string;
  readonly after: string;
}

const JSON_TYPE = "application/json; charset=utf-8";
const PAGE_ROWS = 256;
const PAGE_BYTES = 512 * 1024;

/**
 * A JSON answer with the events between two texts, all of them, from the stored texts as they are. A log of one page
 * is one string; a longer one is sent page by page as the client takes it, so that it is never in memory as a whole.
 */
export async function sendEvents(context: RequestContext, answer: EventArray): Promise<Reply> {
  const { runId, from, to, before, after } = answer;
  const { store } = context.host;
  const first = to > from ? await store.readEvents(runId, from, Math.min(to - from, PAGE_ROWS)) : [];
  if (to - from <= PAGE_ROWS) return { status: 200, raw: before + bodiesOf(first) + after, contentType: JSON_TYPE };

  async function* pages(): AsyncGenerator<string> {
    yield before + bodiesOf(first);
    let page = first;
    for (let next = from + first.length; next < to; next += page.length) {
      page = await store.readEvents(runId, next, Math.min(to - next, rowsAfter(page)));
      if (page.length === 0) throw new Error(`run ${runId} has no event ${next} although it is at version ${to}`);
      yield `,${bodiesOf(page)}`;
    }
    yield after;
  }

  const { reply, request } = context;
  reply.hijack();
  reply.raw.writeHead(200, { ...reply.getHeaders(), "content-type": JSON_TYPE });
  try {
    await pipeline(Readable.from(pages()), reply.raw);
  } catch (error) {
    // The status line is gone; the connection is cut, so the client cannot take half a log for a whole one.
    if (!reply.raw.closed) request.log.error(error, "the event log could not be sent to its end");
    reply.raw.destroy();
  }
  return "hijacked";
}

function bodiesOf(events: readonly StoredEvent[]): string {
  return events.map((event) => event.body).join(",");
}

/** As many rows as would have made a page of about the wanted size, had they been like the last ones. */
function rowsAfter(page: readonly StoredEvent[]): number {
  const bytes = page.reduce((sum, event) => sum + event.body.length, 0);
  return Math.min(1024, Math.max(1, Math.floor((page.length * PAGE_BYTES) / Math.max(1, bytes))));
}
