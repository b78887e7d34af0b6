import { limitedBytes } from "../limited-bytes.ts";
import { littleByLittle } from "../models/little-by-little.ts";

/** Fetches without following redirects, which would carry the key elsewhere, and reads no more than so many bytes of each answer. */
export function cappedFetch(maxBytes: number): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await fetch(url, { ...init, redirect: "manual" });
    // The client that receives a redirect may follow it by itself.
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new Error(`it answered ${response.status}, and is not followed elsewhere`);
    }
    if (response.body === null) return response;
    const isStream = /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
    const most = isStream ? maxBytes : Math.min(maxBytes, WHOLE_BYTES);
    const limited = limitedBytes(most, () => new Error(`the answer is larger than ${most} bytes`));
    const body = response.body.pipeThrough(limited);
    return new Response(isStream ? body.pipeThrough(littleByLittle()) : body, response);
  };
}

/** An answer that is no stream is parsed and checked in one go, also where it holds thousands of messages. */
const WHOLE_BYTES = 2 * 1024 * 1024;
