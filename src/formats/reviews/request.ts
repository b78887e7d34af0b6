import { isObject, own } from "../../protocol/own.ts";
import { AFP_DECISIONS, AFP_SESSION_NAMES, AFP_VERSION } from "../../protocol/reviews/afp.ts";
import { exceedsLimits, parsedJson } from "../json/check-json.ts";

const SESSION_LIKE: ReadonlySet<string> = new Set(AFP_SESSION_NAMES);

/** Sessions belong to the transport; a payload that names one, under any spelling, is invalid. */
export function isSessionLike(name: string): boolean {
  const bare = name
    .toLowerCase()
    .replace(/^x-/, "")
    .replace(/[-_.\s]/g, "");
  return SESSION_LIKE.has(bare);
}

/** An unknown name that is not marked as an extension. */
export function isUnknown(name: string, known: readonly string[]): boolean {
  return !known.includes(name) && !name.startsWith("x-") && !isSessionLike(name);
}

export type Members = Readonly<Record<string, unknown>>;

export const PROTOCOL_VERSION = AFP_VERSION;
export const DECISIONS = AFP_DECISIONS;
export type DecisionStatus = (typeof DECISIONS)[number];

export interface Decision {
  readonly id: string;
  readonly status: DecisionStatus;
  readonly reason_code?: string;
  readonly explanation?: string;
}

export interface ReviewRequest {
  readonly protocol_version: typeof PROTOCOL_VERSION;
  readonly iteration: number;
  readonly artifact: { readonly media_type: string; readonly content: unknown; readonly artifact_ref?: string };
  readonly applied_feedback?: { readonly items: readonly Decision[] };
}

/** The checks in their order; the first that fails decides. */
export type RequestCheck =
  | "encoding"
  | "size"
  | "depth"
  | "syntax"
  | "not_object"
  | "protocol_version"
  | "iteration"
  | "session_field"
  | "artifact"
  | "media_type"
  | "content"
  | "artifact_ref"
  | "applied_feedback"
  | "applied_item";

export interface Warning {
  readonly code: string;
  readonly message: string;
}

export type CheckedRequest =
  | { readonly ok: true; readonly request: ReviewRequest; readonly warnings: readonly Warning[] }
  /** The iteration is repeated by an error answer, where it could be read. */
  | ({ readonly ok: false; readonly iteration?: number } & Failure);

export const REQUEST_BYTES_MAX = 16 * 1024 * 1024;
export const REQUEST_DEPTH_MAX = 512;

/** A request as it arrived on the wire. */
export function readRequest(bytes: Uint8Array): CheckedRequest {
  if (bytes.length > REQUEST_BYTES_MAX) return refused("size", `the request is larger than ${REQUEST_BYTES_MAX} bytes`);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return refused("encoding", "the request is not UTF-8");
  }
  if (isTooDeep(bytes)) return refused("depth", `the request is nested deeper than ${REQUEST_DEPTH_MAX}`);
  const value = parsedJson(text);
  return value === undefined ? refused("syntax", "the request is not JSON") : checkRequest(value);
}

export function checkRequest(value: unknown): CheckedRequest {
  if (!isObject(value)) return refused("not_object", "the request is not a JSON object");
  const iteration = own(value, "iteration");
  const readable = isIteration(iteration) ? { iteration } : {};
  const failed = failureIn(value);
  if (failed) return { ok: false, ...failed, ...readable };
  return { ok: true, request: value as unknown as ReviewRequest, warnings: warningsFor(value) };
}

/** A positive integer that a double holds exactly. */
export function isIteration(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1;
}

interface Failure {
  readonly problem: RequestCheck;
  readonly message: string;
}

function refused(problem: RequestCheck, message: string): CheckedRequest {
  return { ok: false, problem, message };
}

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/i;

/** `text/markdown; charset=utf-8` is `text/markdown`; undefined for other texts. */
export function mediaTypeOf(text: string): string | undefined {
  const bare = (text.split(";", 1)[0] ?? "").trim().toLowerCase();
  return MEDIA_TYPE.test(bare) ? bare : undefined;
}

function failureIn(request: Members): Failure | undefined {
  if (own(request, "protocol_version") !== PROTOCOL_VERSION) {
    return { problem: "protocol_version", message: `protocol_version must be "${PROTOCOL_VERSION}"` };
  }
  if (!isIteration(own(request, "iteration"))) {
    return { problem: "iteration", message: "iteration must be a whole number from 1 on" };
  }
  return sessionField(request, "the request") ?? artifactFailure(request) ?? decisionsFailure(request);
}

function sessionField(members: Members, where: string): Failure | undefined {
  const name = Object.keys(members).find(isSessionLike);
  if (name === undefined) return undefined;
  const message = `${where} has the field ${shown(name)}; sessions are named outside of it`;
  return { problem: "session_field", message };
}

function artifactFailure(request: Members): Failure | undefined {
  const artifact = own(request, "artifact");
  if (!isObject(artifact)) return { problem: "artifact", message: "artifact must be an object" };
  const misplaced = sessionField(artifact, "artifact");
  if (misplaced) return misplaced;
  const mediaType = own(artifact, "media_type");
  if (typeof mediaType !== "string" || mediaTypeOf(mediaType) === undefined) {
    return { problem: "media_type", message: "artifact.media_type must be of the form type/subtype" };
  }
  if (!Object.hasOwn(artifact, "content")) return { problem: "content", message: "artifact.content is missing" };
  if (Object.hasOwn(artifact, "artifact_ref") && typeof artifact["artifact_ref"] !== "string") {
    return { problem: "artifact_ref", message: "artifact.artifact_ref must be a string; leave it out otherwise" };
  }
  return undefined;
}

function decisionsFailure(request: Members): Failure | undefined {
  if (!Object.hasOwn(request, "applied_feedback")) return undefined;
  const applied = request["applied_feedback"];
  if (!isObject(applied)) {
    return { problem: "applied_feedback", message: "applied_feedback must be an object; leave it out otherwise" };
  }
  const misplaced = sessionField(applied, "applied_feedback");
  if (misplaced) return misplaced;
  const items = own(applied, "items");
  if (!Array.isArray(items)) return { problem: "applied_feedback", message: "applied_feedback.items must be a list" };
  for (const [i, item] of items.entries()) {
    const failed = decisionFailure(item, `applied_feedback.items[${i}]`);
    if (failed) return failed;
  }
  return undefined;
}

function decisionFailure(item: unknown, where: string): Failure | undefined {
  const wrong = (message: string): Failure => ({ problem: "applied_item", message: `${where}${message}` });
  if (!isObject(item)) return wrong(" must be an object");
  const misplaced = sessionField(item, where);
  if (misplaced) return misplaced;
  if (typeof own(item, "id") !== "string") return wrong(".id must be a string");
  if (!(DECISIONS as readonly unknown[]).includes(own(item, "status"))) {
    return wrong(`.status must be one of ${DECISIONS.join(", ")}`);
  }
  for (const name of ["reason_code", "explanation"]) {
    if (Object.hasOwn(item, name) && typeof item[name] !== "string")
      return wrong(`.${name} must be a string; leave it out otherwise`);
  }
  return undefined;
}

const KNOWN = {
  request: ["protocol_version", "iteration", "artifact", "applied_feedback"],
  artifact: ["media_type", "content", "artifact_ref"],
  applied: ["items"],
  item: ["id", "status", "reason_code", "explanation"],
} as const;

function warningsFor(request: Members): Warning[] {
  const { artifact, applied_feedback: applied } = request as unknown as ReviewRequest;
  const items = applied?.items ?? [];
  const unknown = [
    ...unknownIn(request, KNOWN.request, ""),
    ...unknownIn(artifact as unknown as Members, KNOWN.artifact, "artifact."),
    ...(applied === undefined ? [] : unknownIn(applied as unknown as Members, KNOWN.applied, "applied_feedback.")),
    ...items.flatMap((item, i) => unknownIn(item as unknown as Members, KNOWN.item, `applied_feedback.items[${i}].`)),
  ];
  return unknown.map((name) => ({ code: "unknown_field", message: `${name} is not known and was ignored` }));
}

const SHOWN_CHARACTERS = 128;
const BEGINNING_CHARACTERS = 16;

/**
 * An untrusted name as a message shows it. A long name is shortened to its first characters: scrubbing would not recognise a secret whose
 * end is cut off.
 */
export function shown(name: string): string {
  return name.length <= SHOWN_CHARACTERS ? name : `${name.slice(0, BEGINNING_CHARACTERS)}…`;
}

function unknownIn(members: Members, known: readonly string[], where: string): string[] {
  return Object.keys(members)
    .filter((name) => isUnknown(name, known))
    .map((name) => `${where}${shown(name)}`);
}

/** Without parsing: a text that is nested very deep could exhaust the parser's stack. */
export function isTooDeep(json: string | Uint8Array): boolean {
  const bytes = typeof json === "string" ? new TextEncoder().encode(json) : json;
  return exceedsLimits(bytes, { maxDepth: REQUEST_DEPTH_MAX, maxElements: Number.POSITIVE_INFINITY }) !== undefined;
}
