import { open } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { postHttp } from "../../engine/outbound/call-out.ts";
import { parsedJson } from "../../formats/json/check-json.ts";
import type { Ending } from "../../formats/reviews/outcome.ts";
import { isObject, own } from "../../protocol/own.ts";
import type { Carrier, Limits, Sending, Sent } from "./carrier.ts";

export interface ServerSettings {
  /** The URL without the path of the provider. */
  readonly url: string;
  readonly key: string | undefined;
  readonly agent: string;
  readonly limits: Limits;
}

const PROVIDER = "/v1/host/assay/afp/run";
/** More of a refusal is not read. */
const REFUSAL_BYTES = 1 << 16;

/** A provider that is mounted on a server. Its HTTP errors become those of a command. */
export function httpCarrier(settings: ServerSettings): Carrier {
  return { send: (sending) => post(settings, sending) };
}

async function post({ url, key, agent, limits }: ServerSettings, sending: Sending): Promise<Sent> {
  const { line, session, streamPath, watch, signal } = sending;
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), limits.timeMs);
  const address = new URL(`${url}${PROVIDER}`);
  address.searchParams.set("agent", agent);
  if (session !== undefined) address.searchParams.set("session", session);
  const headers = {
    "content-type": "application/json",
    accept: "application/x-ndjson",
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  const begun = await postHttp({ address, headers, body: line, signal: AbortSignal.any([signal, stop.signal]) });
  if ("error" in begun) {
    clearTimeout(timer);
    signal.throwIfAborted();
    if (stop.signal.aborted) return ended({ limited: true });
    const reason = reasonOf(begun.error);
    // The server may have acted on the request; asked again, a provider repeats its answer.
    if (begun.connected) return ended({ exitCode: 1, broken: true, stderr: `the connection broke: ${reason}` });
    return { started: false, name: "unreachable", message: `no answer from ${url}: ${reason}` };
  }
  const { response } = begun;
  const { statusCode: status = 0 } = response;
  const file = await open(streamPath, "w", 0o600);
  let read = 0;
  const take = async (bytes: Uint8Array) => {
    const kept = bytes.subarray(0, Math.max(0, limits.bytes - read));
    await file.write(kept);
    watch.take(kept);
    read += bytes.length;
  };
  try {
    if (status < 200 || status > 299) {
      const refusal = refusalOf(status, await beginningOf(response));
      if (refusal.isLost) return ended({ exitCode: 1, stderr: "Error: Session not found" });
      await take(new TextEncoder().encode(refusal.line));
      return ended({ exitCode: 1 });
    }
    for await (const bytes of response) {
      await take(bytes as Uint8Array);
      if (read > limits.bytes || watch.lines > limits.lines) return ended({ limited: true });
    }
    return ended({ exitCode: 0 });
  } catch (error) {
    signal.throwIfAborted();
    if (stop.signal.aborted) return ended({ limited: true });
    return ended({ exitCode: 1, broken: true, stderr: `the connection broke: ${reasonOf(error as Error)}` });
  } finally {
    clearTimeout(timer);
    stop.abort();
    await file.close();
  }
}

function ended(how: Partial<Ending>): Sent {
  return { started: true, exitCode: null, limited: false, stderr: "", ...how };
}

interface Refusal {
  readonly isLost: boolean;
  /** The line of a failure in the form of a command. */
  readonly line: string;
}

function refusalOf(status: number, text: string): Refusal {
  const value = parsedJson(text);
  const body = isObject(value) ? value : {};
  const details = own(body, "details");
  const nested = own(body, "error");
  // A server answers with its own envelope, a stand-alone provider with that of the protocol.
  const named = isObject(nested) ? nested : { name: isObject(details) ? own(details, "name") : undefined, ...body };
  const name = own(named, "name") ?? (typeof nested === "string" ? nested : undefined);
  const message = own(named, "message");
  const data = {
    message: typeof message === "string" ? message : `the server answered ${status}`,
    statusCode: status,
    isRetryable: status === 409 || status === 429 || status >= 500,
  };
  const error = { name: typeof name === "string" ? name : "HttpError", data };
  return {
    isLost: status === 404 && name === "SessionNotFound",
    line: `${JSON.stringify({ type: "error", error })}\n`,
  };
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response) {
    text += decoder.decode(bytes as Uint8Array, { stream: true });
    if (text.length > REFUSAL_BYTES) break;
  }
  return text;
}

function reasonOf(error: Error): string {
  // The errors of a name with several addresses, each of which was tried.
  const [first] = error instanceof AggregateError ? error.errors : [];
  if (first instanceof Error) return first.message;
  if (/wrong version number/.test(error.message)) {
    return "it does not speak TLS, so the address begins with http, not https";
  }
  return error.message;
}
