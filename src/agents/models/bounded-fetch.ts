import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { postHttp } from "../../engine/outbound/call-out.ts";

/** The outcome of one call, as far as readers of its answer cannot see it. */
export interface Carried {
  tooLarge: boolean;
  /** A stream of events is what was asked for. */
  answer: "none" | "stream" | "other";
}

/** Error messages are cut here. */
const REASON_BYTES = 64 * 1024;

/** Posts as `fetch` does, and reads no more than so many bytes of the answer. Notes down how it went. */
export function boundedFetch(maxBytes: number, carried: Carried): typeof fetch {
  return async (input, init) => {
    const response = await post(new URL(input instanceof Request ? input.url : input), init);
    if (response.body === null) return response;
    if (!response.ok) return new Response(await beginningOf(response.body), response);
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    carried.answer = isStream ? "stream" : "other";
    if (!isStream) {
      await response.body.cancel();
      return new Response(null, response);
    }
    const limited = limitedBytes(maxBytes, () => {
      carried.tooLarge = true;
      return new Error("the answer is too large");
    });
    return new Response(response.body.pipeThrough(limited).pipeThrough(littleByLittle()), response);
  };
}

const NEVER = new AbortController().signal;

/** `fetch` itself gives up after five minutes without a byte; how long a model may think is for those to say who ask it. */
async function post(address: URL, { headers, body, signal }: RequestInit = {}): Promise<Response> {
  const begun = await postHttp({
    address,
    headers: Object.fromEntries(new Headers(headers)),
    body: String(body ?? ""),
    signal: signal ?? NEVER,
    keepsConnection: true,
  });
  if ("response" in begun) return responseOf(begun.response);
  signal?.throwIfAborted();
  throw new TypeError("fetch failed", { cause: begun.error });
}

/** Status codes of responses that must not have a body. */
const EMPTY = [101, 204, 205, 304];

function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 0, headers: given } = answer;
  const headers = Object.entries(given).map(([name, value]): [string, string] => [name, String(value)]);
  if (!EMPTY.includes(status)) return new Response(Readable.toWeb(answer) as ReadableStream, { status, headers });
  answer.resume();
  return new Response(null, { status, headers });
}

async function beginningOf(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > REASON_BYTES) break;
  }
  return Buffer.concat(chunks);
}

/** Passes at most this many bytes, and fails with `tooMany` at the next one. */
export function limitedBytes(maxBytes: number, tooMany: () => Error): TransformStream<Uint8Array, Uint8Array> {
  let left = maxBytes;
  return new TransformStream({
    transform(chunk, controller) {
      left -= chunk.length;
      if (left >= 0) controller.enqueue(chunk);
      else controller.error(tooMany());
    },
  });
}

const PIECE_BYTES = 4 * 1024;

/**
 * Passes bytes on a piece at a time, each when the one before it has been processed. Readers of a model's answer take all that is
 * there at once without back-pressure, so that a fast server would hold the event loop, and fill the memory.
 */
export function littleByLittle(): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    async transform(chunk, controller) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        controller.enqueue(chunk.subarray(at, at + PIECE_BYTES));
        await nextTurn();
      }
    },
  });
}
