import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { ownTurn } from "../../engine/worker/pauses.ts";
import { type JsonLimits, measureJson, repeatedMember } from "../../formats/json/check-json.ts";
import { GrowingBytes } from "../../formats/text/byte-chunks.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import { whereJsonBreaks } from "./json-syntax.ts";

export interface ByteLimits {
  readonly maxBytes: number;
  /** Sets how many bytes of an arriving body are held. Throws when there is no room for them. */
  hold?(bytes: number): void;
}

export interface BodyLimits extends JsonLimits, ByteLimits {}

export interface Body {
  readonly value: unknown;
  readonly text: string;
  /** The bytes as received, for handlers that read them. */
  readonly bytes?: Uint8Array;
}

const NOTHING: Body = { value: {}, text: "" };

/** Waits for room for a body that has arrived, before it is read. */
export type Admit = (bytes: number) => Promise<void>;

/**
 * The body as JSON, or `{}` when there is none. Fastify does not read it: it would do so before the caller is known, and send
 * its own error messages.
 */
export async function readBody(request: IncomingMessage, limits: BodyLimits, admit?: Admit): Promise<Body> {
  const bytes = await readBytes(request, limits);
  if (bytes.length === 0) return NOTHING;
  requireJsonType(request);
  await admit?.(bytes.length);
  return bytes.length > LARGE_BODY ? parseLargeBody(bytes, limits) : parseBody(bytes, limits);
}

/** Larger bodies are read in steps, with other work in between. */
const LARGE_BODY = 1_048_576;

async function parseLargeBody(bytes: Buffer, limits: JsonLimits): Promise<Body> {
  const steps = bodySteps(bytes, limits);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await ownTurn();
  }
}

/** JSON that the handler parses. */
export async function readTextBody(request: IncomingMessage, limits: ByteLimits, admit?: Admit): Promise<Body> {
  const bytes = await readBytes(request, limits);
  if (bytes.length > 0) requireJsonType(request);
  await admit?.(bytes.length);
  return { ...NOTHING, bytes };
}

/** A body of the Agent Feedback Protocol, which has its own names for errors. */
export async function readRawBody(request: IncomingMessage, limits: ByteLimits): Promise<Body> {
  requirePlain(request);
  try {
    return { ...NOTHING, bytes: await readBytes(request, limits) };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "payload_too_large") throw error;
    throw new AppError("payload_too_large", { ...error.details, name: "TooLarge" });
  }
}

/** An archive that the handler opens. */
export async function readArchiveBody(request: IncomingMessage, limits: ByteLimits, admit?: Admit): Promise<Body> {
  requirePlain(request);
  const bytes = await readBytes(request, limits);
  await admit?.(bytes.length);
  return { ...NOTHING, bytes };
}

/** Thrown when the client disconnected before its request was complete: no response can be sent. */
export class ClientGone extends Error {}

const EMPTY = Buffer.alloc(0);

function readBytes(request: IncomingMessage, { maxBytes, hold }: ByteLimits): Promise<Buffer> | Buffer {
  const { "content-length": declared, "transfer-encoding": encoding } = request.headers;
  if (declared === undefined && encoding === undefined) return EMPTY;
  if (encoding !== undefined && encoding.toLowerCase() !== "chunked") throw new AppError("unsupported_media_type");
  if (Number(declared) > maxBytes) throw new AppError("payload_too_large", { limitBytes: maxBytes });
  return new Promise((resolve, reject) => {
    const body = new GrowingBytes(declared === undefined ? maxBytes : Number(declared));
    const settle = (finish: () => void) => {
      request.off("data", onData).off("end", onEnd).off("close", onClose).off("error", onClose);
      finish();
    };
    const onData = (chunk: Buffer) => {
      try {
        if (body.size + chunk.length > maxBytes) throw new AppError("payload_too_large", { limitBytes: maxBytes });
        body.add(chunk);
        hold?.(body.capacity);
      } catch (error) {
        settle(() => reject(error));
      }
    };
    const onEnd = () => settle(() => resolve(body.bytes));
    const onClose = () => settle(() => reject(new ClientGone()));
    request.on("data", onData).on("end", onEnd).on("close", onClose).on("error", onClose);
  });
}

const JSON_TYPE = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;

function requireJsonType(request: IncomingMessage): void {
  const { headers } = request;
  const type = headers["content-type"];
  // Compared first, because nearly every client sends exactly this text.
  const known = type === "application/json" || (type !== undefined && JSON_TYPE.test(type));
  if (!known) throw new AppError("unsupported_media_type");
  requirePlain(request);
}

function requirePlain({ headers }: IncomingMessage): void {
  const coding = headers["content-encoding"];
  if (coding !== undefined && coding !== "identity") throw new AppError("unsupported_media_type");
}

export function parseBody(bytes: Buffer, limits: JsonLimits): Body {
  const steps = bodySteps(bytes, limits);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Each step reads the whole body once. */
function* bodySteps(bytes: Buffer, limits: JsonLimits): Generator<void, Body> {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) refuse("starts with a byte order mark; remove it");
  if (!isUtf8(bytes)) refuse("is not UTF-8");
  yield;
  const measured = measureJson(bytes, limits);
  if (typeof measured === "string") refuse(measured);
  yield;
  const text = bytes.toString("utf8");
  yield;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    refuse(`is not JSON: unexpected ${placeIn(text, whereJsonBreaks(text))}`);
  }
  yield;
  const found = findUnusable(value);
  if (found !== undefined) refuse(`holds ${found.problem} at /${found.path.join("/")}`);
  yield;
  const repeated = repeatedMember(text, value, measured.names);
  if (repeated !== undefined) refuse(`has the member ${JSON.stringify(repeated)} twice in one object; send it once`);
  return { value, text };
}

function refuse(problem: string): never {
  throw validationError(`the body ${problem}`);
}

/** The place and not the text: the body may hold secrets. */
function placeIn(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  const column = offset - before.lastIndexOf("\n");
  return `${offset >= text.length ? "end" : "character"} at line ${line}, column ${column}`;
}

interface Unusable {
  readonly problem: string;
  /** Filled from the inside out, so that a path is built only where there is a problem. */
  readonly path: (string | number)[];
}

/**
 * Values that JSON.parse accepts and that cannot be stored: half a surrogate pair and numbers beyond the range of doubles have no
 * canonical form, PostgreSQL has no text with a NUL in it, and a copy of a member called `__proto__` sets the prototype.
 */
function findUnusable(value: unknown): Unusable | undefined {
  switch (typeof value) {
    case "string":
      return unusableText(value);
    case "number":
      return Number.isFinite(value) ? undefined : { problem: "a number out of range", path: [] };
    case "object":
      return value === null ? undefined : Array.isArray(value) ? inArray(value) : inObject(value);
    default:
      return undefined;
  }
}

function unusableText(text: string): Unusable | undefined {
  if (!text.isWellFormed()) return { problem: "half of a surrogate pair", path: [] };
  return text.includes("\0") ? { problem: "a NUL character", path: [] } : undefined;
}

function inArray(values: readonly unknown[]): Unusable | undefined {
  for (let i = 0; i < values.length; i++) {
    const found = findUnusable(values[i]);
    if (found !== undefined) return within(found, i);
  }
  return undefined;
}

function inObject(object: object): Unusable | undefined {
  for (const key of Object.keys(object)) {
    if (key === "__proto__") return { problem: "a member called __proto__", path: [] };
    const inName = unusableText(key);
    if (inName !== undefined) return { problem: `${inName.problem} in a member name`, path: [] };
    const found = findUnusable((object as Record<string, unknown>)[key]);
    if (found !== undefined) return within(found, key);
  }
  return undefined;
}

function within(found: Unusable, step: string | number): Unusable {
  found.path.unshift(step);
  return found;
}
