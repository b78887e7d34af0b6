import type { Socket } from "node:net";
import { AppError } from "../protocol/errors.ts";
import { answerOn } from "./connections.ts";
import { errorReply } from "./errors.ts";
import { answeredEarly } from "./send.ts";

/** What Node says when a request is none. The protocol has no codes of its own for these; the status tells them apart. */
const CASES: Readonly<Record<string, { readonly status: string; readonly problem: string }>> = {
  HPE_HEADER_OVERFLOW: { status: "431 Request Header Fields Too Large", problem: "the headers are too large" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: "408 Request Timeout", problem: "the request took too long to arrive" },
};
const MALFORMED = { status: "400 Bad Request", problem: "it is not HTTP" };

/** There is no request to answer, only a socket; so the answer is written by hand and the connection ends. */
export function answerClientError(error: Error & { code?: string }, socket: Socket, requestId: string): void {
  if (error.code === "ECONNRESET" || !socket.writable || isAnswered(socket)) {
    socket.destroy();
    return;
  }
  const { status, problem } = CASES[error.code ?? ""] ?? MALFORMED;
  const body = JSON.stringify(errorReply(new AppError("validation_error", { problem })).json);
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      "X-Content-Type-Options: nosniff",
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}

/** Whether this would land inside or behind an answer: that of a running stream, or of a request refused halfway. */
function isAnswered(socket: Socket): boolean {
  return answeredEarly.has(socket) || answerOn(socket)?.headersSent === true;
}
