import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

interface Posting {
  readonly address: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Uint8Array;
  readonly signal: AbortSignal;
  /** For those who call the same server again and again. */
  readonly keepsConnection?: boolean;
}

type Begun = { readonly response: IncomingMessage } | { readonly error: Error; readonly connected: boolean };

/**
 * Until the answer begins. Not by `fetch`, which gives up on its own when that takes five minutes, whatever the limit is. Nor is a
 * redirection followed: the key is for nobody else.
 */
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
