import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { PROTOCOL_VERSION, VERSION_HEADER } from "../../protocol/discovery.ts";
import { serialize, type Written } from "./reply.ts";

export interface Sending {
  readonly requestId: string;
  /** Used unless the reply brings its own. */
  readonly cacheControl: string;
  /** How many bytes of a refused body are read and discarded at most. */
  readonly discardBytes: number;
  /** A page of the console or a redirect to it; only JSON is a response of the protocol there. */
  readonly isPage?: true;
}

/** Writes a reply in one piece to Node's response. Fastify's own way allocates more and adds behavior. */
export function send(response: ServerResponse, reply: Written, sending: Sending): void {
  if (response.headersSent || response.destroyed) return;
  const { status, headers: own } = reply;
  const { body, contentType } = serialize(reply);
  const headers = ["x-request-id", sending.requestId, "x-content-type-options", "nosniff"];
  if (sending.isPage === undefined || "json" in reply) headers.push(VERSION_HEADER, PROTOCOL_VERSION);
  if (own?.["cache-control"] === undefined) headers.push("cache-control", sending.cacheControl);
  if (own !== undefined) for (const name in own) headers.push(name, own[name] ?? "");
  if (body !== null && status !== 204) headers.push("content-type", contentType);
  if (status !== 304 && status !== 204) headers.push("content-length", String(byteLength(body)));
  if (status >= 400) discardRest(response.req, sending.discardBytes);
  response.writeHead(status, headers);
  response.end(body === null || response.req.method === "HEAD" ? undefined : body);
}

function byteLength(body: string | Uint8Array | null): number {
  if (body === null) return 0;
  return typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
}

/** Connections whose request was refused before it had arrived. They get no second response when the rest never arrives. */
export const answeredEarly = new WeakSet<Socket>();

const LINGER_MS = 2000;

/**
 * Discards the rest of a refused request for a moment, because a client that still sends would see a closed connection before it
 * reads the response. Then the connection is cut.
 */
function discardRest(request: IncomingMessage, maxBytes: number): void {
  if (request.complete !== false) return;
  const { socket } = request;
  answeredEarly.add(socket);
  let left = maxBytes;
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  timer.unref();
  request.once("end", () => answeredEarly.delete(socket));
  request.once("close", () => clearTimeout(timer));
  request.on("error", () => {});
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) socket.destroy();
  });
}
