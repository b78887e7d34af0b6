import { limitedBytes } from "../limited-bytes.ts";

/** Fetches without following redirects, which would carry the key elsewhere, and reads no more than so many bytes of each answer. */
export function cappedFetch(maxBytes: number): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await fetch(url, { ...init, redirect: "manual" });
    // Whoever is handed such an answer may follow it by himself.
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new Error(`it answered ${response.status}, and is not followed elsewhere`);
    }
    if (response.body === null) return response;
    const limited = limitedBytes(maxBytes, () => new Error(`the answer is larger than ${maxBytes} bytes`));
    return new Response(response.body.pipeThrough(limited), response);
  };
}
