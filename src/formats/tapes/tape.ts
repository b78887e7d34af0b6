import {
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
import { type Json, type JsonObject, Unreadable } from "../json/exact-json.ts";
import { payload } from "./payload.ts";

/** The newest version of the file that is read and written here. */
export const TAPE_VERSION = 1;

export const PHASES = ["user_script", "runtime_finalize"] as const;

/** Names and order are those of the file. */
const header = object({
  version: u32,
  harn_version: text,
  started_at_unix_ms: optional(i64),
  script_path: optional(text),
  argv: withDefault(list(text), []),
});
export type TapeHeader = Decoded<typeof header>;

/** What may have happened, and what is recorded of it. Any other word is read as `unknown`, and its members are lost. */
export const RECORD_KINDS = {
  clock_read: { source: word("wall", "monotonic"), value_ms: i64 },
  clock_sleep: { duration_ms: u64 },
  llm_call: { request_digest: text, response: payload },
  decision_evaluation: { request_digest: text, response: payload },
  file_read: { path: text, content_hash: text, len_bytes: u64 },
  file_write: { path: text, content_hash: text, len_bytes: u64 },
  file_delete: { path: text },
  process_spawn: {
    program: text,
    args: list(text),
    cwd: optional(text),
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
    asset_digests: list(text),
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

/** A tape as the reader understood it. Bodies that are not in the file are looked up by their hash. */
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

/** What the digest covers of a record: all but its type. */
export function printHashedRecord(record: TapeRecord): string {
  return `{${printMembers(record, RECORD)}}`;
}
