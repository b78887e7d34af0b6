import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage, MessageExtraInfo } from "@modelcontextprotocol/sdk/types.js";
import { sizeProblem } from "../usable-value.ts";

/** No reason that an agent or a log is given is longer. */
const REASON_MOST = 8_192;

/**
 * Messages of an MCP server, each within bounds before the library sees it. The library checks a message as a whole and describes every
 * problem in it, which for a few megabytes of wrong parts takes seconds, and more memory than the process has.
 */
export class BoundedTransport implements Transport {
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #inner: Transport;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  start(): Promise<void> {
    this.#inner.onmessage = (message, extra) => this.onmessage?.(bounded(message), extra);
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.onerror?.(error);
    return this.#inner.start();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    return this.#inner.send(message, options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** Returns the message, or an error that describes its problem. */
function bounded(message: JSONRPCMessage): JSONRPCMessage {
  const problem = problemOf((message ?? {}) as Received);
  if (problem === undefined) return message;
  const { id } = message as Received;
  const answered = typeof id === "string" || typeof id === "number" ? { id } : {};
  return { jsonrpc: "2.0", ...answered, error: { code: TOO_LARGE, message: `its message ${problem}` } };
}

/** "Internal error" of JSON-RPC. */
const TOO_LARGE = -32_603;

interface Received {
  readonly id?: unknown;
  readonly error?: { readonly message?: unknown } | null;
  readonly result?: {
    readonly tools?: unknown;
    readonly content?: unknown;
    readonly structuredContent?: unknown;
  } | null;
}

/** Tools and their results have the limits of other values; all other messages are small. */
function problemOf(message: Received): string | undefined {
  const { tools, content, structuredContent } = message.result ?? {};
  const reason = message.error?.message;
  if (typeof reason === "string" && reason.length > REASON_MOST)
    return `has a reason of more than ${REASON_MOST} characters`;
  const isLarge = tools !== undefined || content !== undefined || structuredContent !== undefined;
  return (
    sizeProblem(message, isLarge ? undefined : SMALL_VALUES) ?? (tools === undefined ? undefined : listProblem(tools))
  );
}

const SMALL_VALUES = 1_000;

/** Checks only the shape: the library checks the rest of a list. */
function listProblem(tools: unknown): string | undefined {
  if (Array.isArray(tools) && tools.every(isTool)) return undefined;
  return "has a list with a tool that is none";
}

function isTool(given: unknown): boolean {
  const { name, inputSchema, outputSchema, icons } = (given ?? {}) as Readonly<Record<string, unknown>>;
  const isSchema = outputSchema === undefined || isObjectSchema(outputSchema);
  const isSmall = sizeProblem(icons, SMALL_VALUES) === undefined;
  return typeof name === "string" && isObjectSchema(inputSchema) && isSchema && isSmall;
}

function isObjectSchema(given: unknown): boolean {
  const { type, properties = {}, required = [] } = (given ?? {}) as Readonly<Record<string, unknown>>;
  return (
    type === "object" &&
    isRecord(properties) &&
    Object.values(properties).every(isRecord) &&
    Array.isArray(required) &&
    required.every((name) => typeof name === "string")
  );
}

function isRecord(given: unknown): given is object {
  return typeof given === "object" && given !== null;
}
