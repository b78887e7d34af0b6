import { postHttp } from "../../engine/outbound/post-http.ts";

/** `fetch` for answers that may be longer in coming than the one of Node waits: its POSTs wait for as long as their signal. */
export async function patientFetch(url: string, init: RequestInit): Promise<Response> {
  const { method, headers, body, signal } = init;
  if (method !== "POST" || !signal) return fetch(url, init);
  const sent = typeof body === "string" || body instanceof Uint8Array ? body : "";
  const begun = await postHttp({
    address: new URL(url),
    headers: Object.fromEntries(new Headers(headers)),
    body: sent as string | Uint8Array<ArrayBuffer>,
    signal,
  });
  try {
    if ("error" in begun) throw begun.error;
    const parts: Buffer[] = [];
    for await (const part of begun.response) parts.push(part as Buffer);
    return new Response(Buffer.concat(parts), { status: begun.response.statusCode ?? 0 });
  } catch (error) {
    // Says that time is up, where it is; the connection alone would say that it was closed.
    signal.throwIfAborted();
    throw new TypeError("fetch failed", { cause: error });
  }
}
