/** What became of one call, as far as those who read its answer are not told. */
export interface Carried {
  tooLarge: boolean;
  /** A stream of events is what was asked for. */
  answer: "none" | "stream" | "other";
}

/** No reason that anybody reads is longer. */
const REASON_BYTES = 64 * 1024;

/**
 * Fetches without following redirects, which would carry the key elsewhere, and reads no more than so many bytes of the answer. Notes
 * down how it went.
 */
export function boundedFetch(maxBytes: number, carried: Carried): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: "manual" });
    if (response.body === null) return response;
    if (!response.ok) return new Response(await beginningOf(response.body), response);
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    carried.answer = isStream ? "stream" : "other";
    if (!isStream) {
      await response.body.cancel();
      return new Response(null, response);
    }
    let left = maxBytes;
    const count = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= chunk.length;
        if (left >= 0) controller.enqueue(chunk);
        else {
          carried.tooLarge = true;
          controller.error(new Error("the answer is too large"));
        }
      },
    });
    return new Response(response.body.pipeThrough(count), response);
  };
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
