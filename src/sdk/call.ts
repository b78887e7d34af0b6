import { ConnectionError, thrownAs } from "./errors.ts";
import type { ClientResponse } from "./response.ts";
import type { ClientSettings } from "./settings.ts";

/** An answer with the response it came in: status, headers, request id. */
export interface WithResponse<T> {
  readonly data: T;
  readonly response: ClientResponse;
}

/** A request under way: a promise of its answer. The request is sent at once, whether or not it is awaited. */
export class Call<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = "Call";
  readonly #response: Promise<ClientResponse>;
  readonly #read: (response: ClientResponse) => Promise<T>;

  constructor(response: Promise<ClientResponse>, read: (response: ClientResponse) => Promise<T>) {
    this.#response = response;
    this.#read = read;
  }

  // biome-ignore lint/suspicious/noThenProperty: a call is a promise of its answer
  then<A = T, B = never>(
    onAnswer?: ((value: T) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#response.then(this.#read).then(onAnswer, onError);
  }

  catch<B = never>(onError?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, onError);
  }

  finally(onEnd?: (() => void) | null): Promise<T> {
    return this.then().finally(onEnd);
  }

  async withResponse(): Promise<WithResponse<T>> {
    const response = await this.#response;
    return { data: await this.#read(response), response };
  }

  /** The response as it came, its body unread. */
  asResponse(): Promise<ClientResponse> {
    return this.#response;
  }
}

/** A list: awaited it is one page, iterated it is every item of this page and those that follow. */
export class PageCall<Page extends object, Item> extends Call<Page> implements AsyncIterable<Item> {
  readonly #items: string;
  readonly #next: (cursor: string) => Call<Page>;

  constructor(
    response: Promise<ClientResponse>,
    read: (response: ClientResponse) => Promise<Page>,
    items: string,
    next: (cursor: string) => Call<Page>,
  ) {
    super(response, read);
    this.#items = items;
    this.#next = next;
  }

  /** Every item, of this page and those that follow. */
  async all(): Promise<Item[]> {
    const items: Item[] = [];
    for await (const item of this) items.push(item);
    return items;
  }

  async *iterPages(): AsyncGenerator<Page, void, undefined> {
    for (let page: Page = await this.then(); ; ) {
      yield page;
      const { nextCursor } = page as { readonly nextCursor?: string };
      if (nextCursor === undefined) return;
      page = await this.#next(nextCursor).then();
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    for await (const page of this.iterPages()) yield* (page as Readonly<Record<string, Item[]>>)[this.#items] ?? [];
  }
}

/** An answer of many lines: iterated it is what each of them says, as it comes. `asResponse()` has the bytes. */
export class LinesCall<Line> implements AsyncIterable<Line> {
  readonly #response: Promise<ClientResponse>;
  readonly #settings: ClientSettings;

  constructor(response: Promise<ClientResponse>, settings: ClientSettings) {
    this.#response = response;
    this.#settings = settings;
  }

  asResponse(): Promise<ClientResponse> {
    return this.#response;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Line, void, undefined> {
    const { body } = await this.#response;
    if (body === null) return;
    try {
      for await (const line of linesOf(body)) if (line !== "") yield JSON.parse(line);
    } catch (cause) {
      const error = new ConnectionError("The answer broke off before its end", { cause });
      throw thrownAs(error, this.#settings.toError);
    }
  }
}

/** A stream that breaks off is an error: what came is not the whole. */
export async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  // Not every browser iterates streams.
  const reader = body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunksOf(body)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield rest;
}
