import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { PROTOCOL_VERSION } from "../../protocol/discovery.ts";
import { AppError } from "../../protocol/errors.ts";
import { answerOn } from "./connections.ts";
import { envelopeOf } from "./reply.ts";
import { answeredEarly } from "./send.ts";

/** What Node says when a request is none, or not yet one. */
export function clientError(code: string | undefined, maxHeaderBytes: number): AppError {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new AppError("headers_too_large", { limitBytes: maxHeaderBytes });
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new AppError("request_timeout");
    default:
      return new AppError("validation_error", { problem: "it is not HTTP" });
  }
}

/** There is no request to answer, only a socket; so the answer is written by hand and the connection ends. */
export function refuseSocket(socket: Socket, error: AppError, requestId: string): void {
  const answer = answerOn(socket);
  if (answer?.req.complete && !answer.headersSent) {
    // What came before is being worked on and may change something; its answer is the last one here.
    answer.shouldKeepAlive = false;
    return;
  }
  // Not inside or behind an answer: that of a running stream, or of a request refused halfway.
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
