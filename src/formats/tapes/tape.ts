import {
  type Codec,
  type Decoded,
  i32,
  i64,
  list,
  object,
  optional,
  printMembers,
  readMembers,
  tagOf,
  text,
  u32,
  u64,
  type Value,
  withDefault,
  word,
} from "../json/codec.ts";
import { type Json, JsonObject, Unreadable } from "../json/exact-json.ts";

/** The newest version of the format that is read and written here. */
export const TAPE_VERSION = 1;

export const PHASES = ["user_script", "runtime_finalize"] as const;

/** Names and order of members are those of the file. */
const header = object({
  version: u32,
  harn_version: text,
  started_at_unix_ms: optional(i64),
  script_path: optional(text),
  argv: withDefault(list(text), []),
});
export type TapeHeader = Decoded<typeof header>;

const inline = object({ content_hash: text, text });
const stored = object({ content_hash: text, len_bytes: u64 });
/** A body in the file itself. */
export type InlinePayload = Decoded<typeof inline>;
/** A body in a separate file, under the name of its hash. */
export type StoredPayload = Decoded<typeof stored>;
export type Payload = InlinePayload | StoredPayload;

/** Longer bodies are stored in separate files, and so are bodies that are not UTF-8. */
export const INLINE_BYTES_MAX = 4096;

export function isStored(value: Payload): value is StoredPayload {
  return "len_bytes" in value;
}

export function isPayload(value: unknown): value is Payload {
  return typeof value === "object" && value !== null && "content_hash" in value;
}

/** The two forms of a body are distinguished by their members; the inline form is tried first. */
export const payload: Codec<Payload> = {
  read(value) {
    for (const shape of hasText(value) ? [inline, stored] : [stored]) {
      try {
        return shape.read(value);
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
      }
    }
    throw new Unreadable("neither `content_hash` with `text` nor `content_hash` with `len_bytes`");
  },
  print: (value) => (isStored(value) ? stored.print(value) : inline.print(value)),
};

/** Checked before reading: an error that is thrown and caught costs more than the rest of the line. */
function hasText(value: Json): boolean {
  return value instanceof JsonObject && value.members.some(([name]) => name === "text");
}

/** Codecs that the kinds share, so that `tape-facts.ts` finds a skimming step for each. */
export const texts = list(text);
export const maybeText = optional(text);
export const clockSource = word("wall", "monotonic");

/** The kinds of records and their members. Any other word is read as `unknown`, without its members. */
export const RECORD_KINDS = {
  clock_read: { source: clockSource, value_ms: i64 },
  clock_sleep: { duration_ms: u64 },
  llm_call: { request_digest: text, response: payload },
  decision_evaluation: { request_digest: text, response: payload },
  file_read: { path: text, content_hash: text, len_bytes: u64 },
  file_write: { path: text, content_hash: text, len_bytes: u64 },
  file_delete: { path: text },
  process_spawn: {
    program: text,
    args: texts,
    cwd: maybeText,
    exit_code: i32,
    duration_ms: u64,
    stdout_payload: payload,
    stderr_payload: payload,
  },
  mcp_json_rpc: {
    server: text,
    method: text,
    request_digest: text,
    response_digest: text,
    latency_ms: u64,
    request_payload: payload,
    response_payload: payload,
  },
  model_job: {
    job_id: text,
    request_id: text,
    backend: text,
    state: text,
    event_kind: text,
    event: payload,
    asset_digests: texts,
  },
} as const;
type Kinds = typeof RECORD_KINDS;
export type RecordKindName = keyof Kinds;

export type RecordKind =
  | { readonly [K in RecordKindName]: { readonly kind: K } & Value<Kinds[K]> }[RecordKindName]
  | { readonly kind: "unknown" };

const recordKind = {
  read(value: Json): RecordKind {
    const kind = tagOf(value, "kind");
    if (!isKnown(kind)) return { kind: "unknown" };
    return { kind, ...readMembers(value as JsonObject, RECORD_KINDS[kind], ["kind"]) } as RecordKind;
  },
  print(value: RecordKind): string {
    if (value.kind === "unknown") return '{"kind":"unknown"}';
    return `{"kind":"${value.kind}",${printMembers(value as never, RECORD_KINDS[value.kind])}}`;
  },
};

function isKnown(word: string): word is RecordKindName {
  return Object.hasOwn(RECORD_KINDS, word);
}

const RECORD = {
  seq: u64,
  phase: withDefault(word(...PHASES), "user_script"),
  virtual_time_ms: i64,
  monotonic_ms: i64,
  kind: recordKind,
};
export type TapeRecord = Value<typeof RECORD>;

/** A tape as the reader understood it. Bodies outside the file are found by their hash. */
export interface Tape {
  readonly header: TapeHeader;
  readonly records: readonly TapeRecord[];
}

export type TapeLine =
  | { readonly type: "header"; readonly header: TapeHeader }
  | { readonly type: "record"; readonly record: TapeRecord };

export function readTapeLine(value: Json): TapeLine {
  const type = tagOf(value, "type");
  if (type === "header") return { type, header: header.read(value) };
  if (type === "record") return { type, record: readMembers(value as JsonObject, RECORD) };
  throw new Unreadable(`\`type\` is neither header nor record`);
}

export function printTapeHeader(value: TapeHeader): string {
  return `{"type":"header",${header.print(value).slice(1)}`;
}

export function printTapeRecord(record: TapeRecord): string {
  return `{"type":"record",${printMembers(record, RECORD)}}`;
}

/** The part of a record that the digest covers: all but its type. */
export function printHashedRecord(record: TapeRecord): string {
  return `{${printMembers(record, RECORD)}}`;
}

/** The hashes of the record's bodies outside the tape, in the order of its members, with repeats. */
export function* referencedBodies({ kind }: TapeRecord): Generator<string> {
  for (const member of Object.values(kind)) if (isPayload(member) && isStored(member)) yield member.content_hash;
}

/** Whether a name has the form of `bodyHash`. A tape may hold any name; only such a name is looked up as a file. */
export function isBodyHash(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

/**
 * A record as JSON that every JSON parser reads exactly: names are those of the file, and an integer that a double cannot hold is a string
 * of digits. Names tell which members are integers, so the way back is exact.
 */
export interface RecordPayload {
  readonly seq: number | string;
  readonly phase: string;
  readonly virtual_time_ms: number | string;
  readonly monotonic_ms: number | string;
  readonly kind: { readonly kind: string; readonly [member: string]: unknown };
}

/** No other member has one of these names. */
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

/** Throws `Unreadable` for a payload that no record could have produced. */
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

/** A value that is not an integer is left for the reader to refuse. */
function integerOf(value: number | string): Json {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  return DIGITS.test(value) ? BigInt(value) : value;
}
