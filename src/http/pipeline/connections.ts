import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { PROTOCOL_VERSION } from "../../protocol/discovery.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import { envelopeOf } from "./reply.ts";
import { answeredEarly } from "./send.ts";

/** The response under way on a connection. Node keeps it in this property only. */
export function answerOn(socket: Socket): ServerResponse | undefined {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? undefined;
}

const SWEEP_MS = 50;

/** How long a request may still arrive once the server closes. It has had no effect yet, so its client can send it elsewhere. */
const ARRIVAL_MS = 1000;

/**
 * Ends each connection as soon as no response is under way on it, and all of them after `graceMs`. Node ends only those that are idle at
 * the moment of `close()` and have carried a request before, which some connections of browsers never do. `refuse` answers a request that
 * has not arrived in full after `ARRIVAL_MS`; then its connection ends.
 */
export function endConnections(server: Server, refuse: (socket: Socket) => void): (graceMs: number) => void {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });

  return (graceMs) => {
    const refused = new Set<Socket>();
    let mayArrive = true;
    const arrival = setTimeout(() => {
      mayArrive = false;
    }, ARRIVAL_MS);
    const sweep = setInterval(() => {
      for (const socket of sockets) {
        const answer = answerOn(socket);
        if (answer === undefined || refused.has(socket)) socket.destroy();
        else if (!mayArrive && !answer.req.complete && !answer.headersSent) {
          refused.add(socket);
          refuse(socket);
        }
      }
    }, SWEEP_MS);
    const end = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, graceMs);
    server.once("close", () => {
      clearInterval(sweep);
      clearTimeout(arrival);
      clearTimeout(end);
    });
    // A server that never listened emits no `close`.
    sweep.unref();
    arrival.unref();
    end.unref();
  };
}

/** The error for input that Node could not read as a request. */
export function clientError(code: string | undefined, maxHeaderBytes: number): AppError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new AppError("headers_too_large", { limitBytes: maxHeaderBytes });
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new AppError("request_timeout");
    default:
      return validationError("it is not HTTP");
  }
}

/** Refuses input without a request: the response is written to the socket, and the connection ends. */
export function refuseSocket(socket: Socket, error: AppError, requestId: string): void {
  const answer = answerOn(socket);
  if (answer?.req.complete && !answer.headersSent) {
    // The request before is being processed and may have an effect; its response is the last one on this connection.
    answer.shouldKeepAlive = false;
    return;
  }
  // Never inside or after another response: that of an open stream, or of a request that was refused before it had arrived.
  if (!socket.writable || answeredEarly.has(socket) || answer?.headersSent) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(envelopeOf(error));
  socket.end(
    [
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      `OpenWOP-Version: ${PROTOCOL_VERSION}`,
      "X-Content-Type-Options: nosniff",
      "Cache-Control: no-store",
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}

/** Ends the connection when its reader takes none of the bytes that wait for it during `stallMs`. */
export function cutWhenStalled(response: ServerResponse, stallMs: number): void {
  // Node's timeout restarts with every write that makes progress. A response without waiting bytes is idle, not stalled.
  response.setTimeout(stallMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
}
