import { postHttp } from "../../engine/outbound/post-http.ts";

export interface PatientInit {
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal;
}

/** A POST as `fetch` makes it, for answers that may be longer in coming than `fetch` waits. */
export async function patientFetch(address: URL, { headers, body = "", signal }: PatientInit): Promise<Response> {
  const begun = await postHttp({ address, headers, body, signal });
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
