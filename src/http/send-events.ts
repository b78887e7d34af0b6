import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Store, StoredEvent } from "../store/store.ts";
import { cutWhenStalled } from "./cut-when-stalled.ts";
import type { Reply, RequestContext } from "./handler.ts";
import type { RunFeeds } from "./run-feeds.ts";

export interface EventArray {
  readonly runId: string;
  readonly from: number;
  /** Exclusive: the version of the run that the rest of the answer describes. */
  readonly to: number;
  /** The texts around the array's elements. */
  readonly before: string;
  readonly after: string;
}

const JSON_TYPE = "application/json";
const FIRST_ROWS = 64;
const ROWS_MAX = 1024;
const PAGE_BYTES = 512 * 1024;

/**
 * A JSON answer with all events of the range, from the stored texts as they are. Up to about a page it is one string;
 * a longer one is sent page by page as the client takes it, so that it is never in memory as a whole.
 */
export async function sendEvents(
  { host, reply, requestId }: RequestContext,
  { settings, report }: Pick<RunFeeds, "settings" | "report">,
  answer: EventArray,
): Promise<Reply> {
  const rest = pages(host.store, answer);
  let text = "";
  while (text.length < PAGE_BYTES) {
    const { done, value } = await rest.next();
    if (done) return { status: 200, raw: text, contentType: JSON_TYPE };
    text += value;
  }

  const response = reply.raw;
  reply.hijack();
  cutWhenStalled(response, settings.stallMs);
  const headers = { "cache-control": "no-store", "x-content-type-options": "nosniff", "x-request-id": requestId };
  response.writeHead(200, { "content-type": JSON_TYPE, ...headers });
  // Not awaited: whoever asked learns from the response itself how it ends. Half a log cannot be taken for a whole one,
  // because a failed pipeline cuts the connection before the last chunk.
  pipeline(Readable.from(chain(text, rest)), response).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") report(error);
  });
  return "hijacked";
}

async function* pages(store: Store, { runId, from, to, before, after }: EventArray): AsyncGenerator<string, undefined> {
  let between = before;
  let rows = FIRST_ROWS;
  for (let next = from; next < to; ) {
    const page = await store.readEvents(runId, next, Math.min(to - next, rows));
    if (page.length === 0) throw new Error(`run ${runId} is at version ${to} but has no event ${next}`);
    const bodies = page.map((event) => event.body).join(",");
    yield between + bodies;
    between = ",";
    next += page.length;
    rows = rowsLike(page, bodies.length);
  }
  yield to > from ? after : before + after;
}

async function* chain(first: string, rest: AsyncGenerator<string, undefined>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

/** How many rows make a page of the wanted size if they are like those of the last. */
function rowsLike(page: readonly StoredEvent[], bytes: number): number {
  return Math.min(ROWS_MAX, Math.max(1, Math.floor((page.length * PAGE_BYTES) / bytes)));
}
