import { type Json, JsonObject, Unreadable } from "../json/exact-json.ts";
import { readTapeLine, type TapeRecord } from "./tape.ts";

/**
 * A record as JSON that every reader of JSON gets right: the names are those of the file, and an integer that a double does not
 * hold is a text of digits. What is an integer is known from its name, so the way back is exact.
 */
export interface RecordPayload {
  readonly seq: number | string;
  readonly phase: string;
  readonly virtual_time_ms: number | string;
  readonly monotonic_ms: number | string;
  readonly kind: { readonly kind: string; readonly [member: string]: unknown };
}

/** No member of another sort has one of these names. */
export const INTEGER_MEMBERS: ReadonlySet<string> = new Set([
  "seq",
  "virtual_time_ms",
  "monotonic_ms",
  "value_ms",
  "duration_ms",
  "latency_ms",
  "len_bytes",
  "exit_code",
]);

export function recordToPayload(record: TapeRecord): RecordPayload {
  return plain(record) as RecordPayload;
}

/** Throws `Unreadable` for what no record could have become. */
export function payloadToRecord(payload: unknown): TapeRecord {
  const value = exact(payload, "");
  if (!(value instanceof JsonObject)) throw new Unreadable("a record is an object");
  const line = readTapeLine(new JsonObject([["type", "record"], ...value.members]));
  if (line.type !== "record") throw new Error("a line of type record was read as something else");
  return line.record;
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

function exact(value: unknown, name: string): Json {
  if (INTEGER_MEMBERS.has(name) && (typeof value === "number" || typeof value === "string")) return integerOf(value);
  if (typeof value !== "object" || value === null) return value as Json;
  if (Array.isArray(value)) return value.map((item) => exact(item, ""));
  return new JsonObject(Object.entries(value).map(([member, inner]) => [member, exact(inner, member)]));
}

const DIGITS = /^-?[0-9]{1,20}$/;

/** What is no integer is left for the reader to refuse. */
function integerOf(value: number | string): Json {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  return DIGITS.test(value) ? BigInt(value) : value;
}
