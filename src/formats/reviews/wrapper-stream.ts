import { isObject, own } from "../../protocol/own.ts";
import { parsedJson } from "../json/check-json.ts";
import type { Members } from "./request.ts";

/** One message of the stream that carries an answer. Only the type is required. */
export interface WrapperMessage {
  readonly type: string;
  readonly sessionID?: string;
  readonly part?: Members;
  readonly error?: Members;
}

const TYPES: ReadonlySet<string> = new Set([
  "step_start",
  "text",
  "reasoning",
  "tool_use",
  "step_finish",
  "error",
  "done",
]);

/**
 * Reads the lines of such a stream as they arrive. Invalid UTF-8 becomes U+FFFD, as in the transports of the answer. The stream is not
 * kept: each message is passed on.
 */
export class WrapperStream {
  readonly #decoder = new TextDecoder("utf-8");
  readonly #onMessage: (message: WrapperMessage) => void;
  readonly warnings = new Set<string>();
  lines = 0;
  /** Whether the last line broke off; known at the end. */
  cut = false;
  #parts: string[] = [];

  constructor(onMessage: (message: WrapperMessage) => void) {
    this.#onMessage = onMessage;
  }

  take(bytes: Uint8Array): void {
    this.#feed(this.#decoder.decode(bytes, { stream: true }));
  }

  end(): void {
    this.#feed(this.#decoder.decode());
    const last = this.#parts.join("");
    this.#parts = [];
    if (last.trim() === "") return;
    this.lines++;
    const message = messageIn(last);
    if (message === undefined) this.cut = true;
    else this.#hand(message);
  }

  #feed(text: string): void {
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      this.#parts.push(text.slice(start, end));
      this.#line(this.#parts.join(""));
      this.#parts = [];
      start = end + 1;
    }
    if (start < text.length) this.#parts.push(text.slice(start));
  }

  #line(line: string): void {
    this.lines++;
    if (line.trim() === "") return;
    const message = messageIn(line);
    if (message === undefined) this.warnings.add("not_a_message");
    else this.#hand(message);
  }

  #hand(message: WrapperMessage): void {
    if (TYPES.has(message.type)) this.#onMessage(message);
    else this.warnings.add("unknown_type");
  }
}

function messageIn(line: string): WrapperMessage | undefined {
  const value = parsedJson(line);
  if (!isObject(value)) return undefined;
  const type = own(value, "type");
  if (typeof type !== "string") return undefined;
  const sessionID = own(value, "sessionID");
  const part = own(value, "part");
  const error = own(value, "error");
  return {
    type,
    ...(typeof sessionID === "string" ? { sessionID } : {}),
    ...(isObject(part) ? { part } : {}),
    ...(isObject(error) ? { error } : {}),
  };
}

/** Ids that a provider needs to write its answer in the form of the command that it replaces. */
export interface StreamIds {
  readonly sessionID: string;
  readonly messageID: string;
  /** Three, ascending. */
  readonly partIDs: readonly [string, string, string];
}

export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cost: number;
}

/** The three lines that carry an answer, each with its LF. The answer is JSON text without line breaks. */
export function answerStream(answer: string, ids: StreamIds, atMs: number, usage: Usage): string {
  const { sessionID, messageID, partIDs } = ids;
  const { input, output, cost } = usage;
  const line = (type: string, part: object) => `${JSON.stringify({ type, timestamp: atMs, sessionID, part })}\n`;
  const common = { messageID, sessionID };
  const tokens = { total: input + output, input, output, reasoning: 0, cache: { read: 0, write: 0 } };
  return [
    line("step_start", { id: partIDs[0], ...common, type: "step-start" }),
    line("text", { id: partIDs[1], ...common, type: "text", text: answer, time: { start: atMs, end: atMs } }),
    line("step_finish", { id: partIDs[2], reason: "stop", ...common, type: "step-finish", tokens, cost }),
  ].join("");
}

/** A failure below the protocol, as the command reports it. */
export function errorLine(sessionID: string | undefined, name: string, message: string, atMs: number): string {
  const session = sessionID === undefined ? {} : { sessionID };
  return `${JSON.stringify({ type: "error", timestamp: atMs, ...session, error: { name, data: { message } } })}\n`;
}
