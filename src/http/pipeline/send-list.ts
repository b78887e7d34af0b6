import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { serializeFor } from "../../engine/families/serialize.ts";
import { PROTOCOL_VERSION } from "../../protocol/discovery.ts";
import type { Store } from "../../store/port/store.ts";
import { STREAM_DEFAULTS } from "../streams/stream-settings.ts";
import { cutWhenStalled } from "./cut-when-stalled.ts";
import type { Reply, RequestContext } from "./handler.ts";
import { VERSION_HEADER } from "./protocol-version.ts";

export interface ListAnswer {
  /** The texts around the elements. */
  readonly before: string;
  readonly after: string;
  /** JSON texts, a page at a time. */
  readonly items: AsyncIterable<readonly string[]>;
  /** Between two of them; a comma unless told otherwise. */
  readonly between?: string;
  readonly contentType?: string;
  /** How long a client may take nothing before it is cut off. */
  readonly stallMs?: number;
}

/** More than this is sent as the client takes it, and never in memory as a whole. */
const WHOLE_CHARACTERS = 512 * 1024;

type SendContext = Pick<RequestContext, "reply" | "requestId" | "report"> & {
  readonly host: { readonly store: Store };
};

/** Documents that become text in one go. */
const PAGE = 200;

/** A list that is in memory already, a few at a time. */
export async function* pagesOf<T>(items: readonly T[], size = PAGE): AsyncGenerator<T[]> {
  for (let i = 0; i < items.length; i += size) yield items.slice(i, i + size);
}

/** Pages of documents as the texts that `sendList` takes. */
export async function* jsonPages(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<string[]> {
  for await (const page of pages) yield page.map((item) => JSON.stringify(item));
}

/** An answer of any length. One that was cut in the middle cannot be taken for a whole one: its last chunk is missing. */
export async function sendList({ host, reply, requestId, report }: SendContext, answer: ListAnswer): Promise<Reply> {
  const { contentType = "application/json", stallMs = STREAM_DEFAULTS.stallMs } = answer;
  const rest = textsOf({ ...answer, items: inTurns(host.store, answer.items) });
  let text = "";
  while (text.length < WHOLE_CHARACTERS) {
    const { done, value } = await rest.next();
    if (done) return { status: 200, raw: text, contentType };
    text += value;
  }
  const response = reply.raw;
  reply.hijack();
  cutWhenStalled(response, stallMs);
  const headers = { "cache-control": "no-store", "x-content-type-options": "nosniff", "x-request-id": requestId };
  response.writeHead(200, { "content-type": contentType, [VERSION_HEADER]: PROTOCOL_VERSION, ...headers });
  // Not awaited: whoever asked learns from the response itself how it ends.
  pipeline(Readable.from(chain(text, rest)), response).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") report(error);
  });
  return "hijacked";
}

/**
 * Beyond the first, the pages of all answers are made one at a time with other work in between: those who ask for much, or
 * many who do so at once, hold up nobody.
 */
async function* inTurns(store: Store, pages: AsyncIterable<readonly string[]>): AsyncGenerator<readonly string[]> {
  const rest = pages[Symbol.asyncIterator]();
  try {
    let page = await rest.next();
    while (!page.done) {
      yield page.value;
      page = await serializeFor(store, "pages of answers", async () => {
        await nextTurn();
        return rest.next();
      });
    }
  } finally {
    await rest.return?.();
  }
}

async function* textsOf({ before, items, after, between = "," }: ListAnswer): AsyncGenerator<string, undefined> {
  let text = before;
  let first = true;
  for await (const page of items) {
    if (page.length > 0) {
      text += (first ? "" : between) + page.join(between);
      first = false;
    }
    yield text;
    text = "";
  }
  yield text + after;
}

async function* chain(first: string, rest: AsyncGenerator<string, undefined>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}
