import { setImmediate as nextTurn } from "node:timers/promises";
import { serializeFor } from "../../engine/shared/serialize.ts";
import type { Store } from "../../store/port/store.ts";
import type { RequestContext } from "./handler.ts";
import type { Reply } from "./reply.ts";

export interface ListAnswer {
  /** The texts around the elements. */
  readonly before: string;
  readonly after: string;
  /** JSON texts, a page at a time. */
  readonly items: AsyncIterable<readonly string[]>;
  /** The text between two of them; a comma by default. */
  readonly between?: string;
  readonly contentType?: string;
  /** How long a client may take nothing before its connection is cut. */
  readonly stallMs?: number;
}

/** Longer responses are sent as the client takes them, and are never in memory as a whole. */
const WHOLE_CHARACTERS = 512 * 1024;

type SendContext = Pick<RequestContext, "stream"> & {
  readonly host: { readonly store: Store };
};

/** Documents that are serialized at once. */
const PAGE = 200;

/** A list that is in memory already, a few at a time. */
export async function* pagesOf<T>(items: readonly T[], size = PAGE): AsyncGenerator<T[]> {
  for (let i = 0; i < items.length; i += size) yield items.slice(i, i + size);
}

/** Pages of documents as the texts that `sendList` takes. */
export async function* jsonPages(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<string[]> {
  for await (const page of pages) yield page.map((item) => JSON.stringify(item));
}

/** A response of any length. A truncated one is recognizable: its last chunk is missing. */
export async function sendList(context: SendContext, answer: ListAnswer): Promise<Reply> {
  const { contentType = "application/json", stallMs } = answer;
  const rest = textsOf({ ...answer, items: inTurns(context.host.store, answer.items) });
  let text = "";
  while (text.length < WHOLE_CHARACTERS) {
    const { done, value } = await rest.next();
    if (done) return { status: 200, raw: text, contentType };
    text += value;
  }
  return context.stream({ contentType, pieces: chain(text, rest), stallMs });
}

/**
 * After the first, the pages of all responses are made one at a time with other work in between, so that long responses, or many at
 * once, do not delay other requests.
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
