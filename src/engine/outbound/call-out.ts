import { type IncomingMessage, type OutgoingHttpHeaders, type RequestOptions, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import { type Address, addressesOf, type Guard } from "./guard.ts";

export interface OutboundCall {
  /** POST unless given; the body of a GET is empty. */
  readonly method?: "GET";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** The time from resolving the name to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Bytes of the answer that are read, at most. */
  readonly maxAnswerBytes: number;
  /** Aborts the call. */
  readonly signal?: AbortSignal;
}

/** The answer, or the reason of its absence. */
export type OutboundAnswer =
  | {
      readonly status: number;
      readonly body: Buffer;
      /** Whether the body was longer than the limit, or broke off. */
      readonly cut: boolean;
      /** The `retry-after` header. */
      readonly retryAfter?: string;
    }
  | { readonly failure: string };

/**
 * Calls a URL that a caller of this host chose. The name is resolved and all its addresses are checked now, and the connection is to a checked address,
 * so a name that resolves differently later does not matter. Redirects are not followed. Each call has a connection of its own, because a kept
 * connection would be to an address that was checked at another time.
 */
export async function callOut(guard: Guard, call: OutboundCall): Promise<OutboundAnswer> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), call.timeoutMs);
  const signal = AbortSignal.any([deadline.signal, ...(call.signal === undefined ? [] : [call.signal])]);
  try {
    const url = new URL(call.url);
    const addresses = await unlessAborted(addressesOf(guard, url), signal);
    if (addresses.length === 0) return { failure: "the host name does not resolve" };
    return await post(guard, call, url, addresses, signal);
  } catch (error) {
    if (call.signal?.aborted) return { failure: "the call was aborted" };
    if (deadline.signal.aborted) return { failure: `no answer within ${call.timeoutMs} ms` };
    return { failure: reasonOf(error) };
  } finally {
    clearTimeout(timer);
  }
}

function post(
  { ca }: Guard,
  call: OutboundCall,
  url: URL,
  addresses: readonly Address[],
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  return new Promise((resolve, reject) => {
    const options: RequestOptions & { ca?: string } = {
      method: call.method ?? "POST",
      headers: {
        ...call.headers,
        ...(call.method === "GET" ? {} : { "content-length": Buffer.byteLength(call.body) }),
      },
      agent: false,
      lookup: only(addresses),
      signal,
      ...defined({ ca }),
    };
    const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, options);
    let answered = false;
    request.on("response", (response) => {
      answered = true;
      void read(response, call.maxAnswerBytes).then((answer) => {
        resolve(answer);
        request.destroy();
      });
    });
    request.on("error", (error) => {
      if (!answered) reject(error);
    });
    // A connection may be closed before the end of the answer is read.
    request.on("close", () => {
      if (!answered) reject(new Error("the connection was closed without an answer"));
    });
    request.end(call.method === "GET" ? undefined : call.body);
  });
}

/** A look-up that returns these addresses for any name. */
function only(addresses: readonly Address[]): LookupFunction {
  return (_hostname, { all }, callback) => {
    const [first = { address: "", family: 4 }] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };
}

/** Reads an answer. A body that breaks off, or takes too long, does not change its status. */
async function read(response: IncomingMessage, maxBytes: number): Promise<OutboundAnswer> {
  const chunks: Buffer[] = [];
  let left = maxBytes;
  let cut = false;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, left));
      left -= chunk.length;
      cut = left < 0;
      if (cut) break;
    }
  } catch {
    cut = true;
  }
  const retryAfter = response.headers["retry-after"];
  const answer = { status: response.statusCode ?? 0, body: Buffer.concat(chunks), cut };
  return retryAfter === undefined ? answer : { ...answer, retryAfter };
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // A rejection after the abort has no other handler and would end the process.
  work.catch(() => {});
  signal.throwIfAborted();
  let stop: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new Error("aborted"));
    signal.addEventListener("abort", stop);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: "the host name does not resolve",
  EAI_AGAIN: "the host name does not resolve at the moment",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed without an answer",
  EHOSTUNREACH: "the host cannot be reached",
  ENETUNREACH: "the host cannot be reached",
  ETIMEDOUT: "the host cannot be reached",
};

/** The reason of an error without addresses, which this machine's resolver may know only internally. */
function reasonOf(error: unknown): string {
  if (error instanceof AppError) return error.message.replace(/\.$/, "");
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const { code, message } = first as NodeJS.ErrnoException;
  if (code === undefined) return message;
  return REASONS[code] ?? (/CERT|TLS|SSL|SELF_SIGNED/.test(code) ? `TLS failed: ${code}` : `the call failed: ${code}`);
}

interface Posting {
  readonly address: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Uint8Array;
  readonly signal: AbortSignal;
  /** For repeated calls of the same server. */
  readonly keepsConnection?: boolean;
}

type Begun = { readonly response: IncomingMessage } | { readonly error: Error; readonly connected: boolean };

/** Posts until the answer begins, without the limit of five minutes that `fetch` has. Redirects are not followed: the key is for this server only. */
export function postHttp({ address, headers, body, signal, keepsConnection = false }: Posting): Promise<Begun> {
  const isSecure = address.protocol === "https:";
  const sized = { ...headers, "content-length": Buffer.byteLength(body) };
  return new Promise((resolve) => {
    let connected = false;
    const options = { method: "POST", headers: sized, signal, ...(keepsConnection ? {} : { agent: false }) } as const;
    const request = (isSecure ? requestHttps : requestHttp)(address, options, (response) => resolve({ response }));
    request.once("socket", (socket) => {
      socket.once(isSecure ? "secureConnect" : "connect", () => {
        connected = true;
      });
    });
    request.on("error", (error) => resolve({ error, connected }));
    request.end(body);
  });
}
