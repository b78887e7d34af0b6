import {
  anyMap,
  anything,
  type Codec,
  type Decoded,
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
} from "../../json/codec.ts";
import { type Json, type JsonObject, Unreadable } from "../../json/exact-json.ts";

/** The newest version of the file that is read and written here. */
export const SIDECAR_VERSION = 1;

export const ROW_KINDS = [
  "correct",
  "incorrect",
  "alternative",
  "note",
  "marker",
  "mute",
  "hypothesis",
  "friction",
  "crystallize_here",
] as const;
/** Any other word is read as `unknown`, and the word is lost. */
export type RowKind = (typeof ROW_KINDS)[number] | "unknown";

export const FRICTION_KINDS = [
  "repeated_query",
  "repeated_clarification",
  "approval_stall",
  "missing_context",
  "manual_handoff",
  "tool_gap",
  "failed_assumption",
  "expensive_model_used_for_deterministic_step",
  "human_hypothesis",
] as const;
export type FrictionKind = (typeof FRICTION_KINDS)[number];

export const HYPOTHESIS_STATUSES = ["active", "verifying", "confirmed", "disproven", "stale"] as const;
export const AUTHOR_KINDS = ["human", "agent", "system"] as const;

/** Names and order are those of the file. */
const header = object({
  schema_version: u32,
  tape_path: optional(text),
  tape_content_hash: optional(text),
  harn_version: optional(text),
});
export type SidecarHeader = Decoded<typeof header>;

const rowKind: Codec<RowKind> = {
  read(value: Json): RowKind {
    const kind = text.read(value);
    return isRowKind(kind) ? kind : "unknown";
  },
  print: text.print,
};

const ROW = {
  id: withDefault(text, ""),
  event_id: u64,
  kind: rowKind,
  evidence: optional(text),
  suggested_fix: optional(anything),
  author: optional(object({ id: optional(text), kind: word(...AUTHOR_KINDS), surface: optional(text) })),
  timestamp: optional(text),
  span: optional(object({ start_event_id: u64, end_event_id: u64 })),
  hypothesis_status: optional(word(...HYPOTHESIS_STATUSES)),
  friction_kind: optional(text),
  links: withDefault(list(object({ label: optional(text), url: optional(text), reference: optional(text) })), []),
  metadata: withDefault(anyMap, new Map()),
};
/** One annotation of a sidecar. Servers speak of annotations too, so a line of this file is a row. */
export type Row = Value<typeof ROW>;

export interface Sidecar {
  readonly header: SidecarHeader;
  readonly rows: readonly Row[];
}

export type SidecarLine =
  | { readonly type: "header"; readonly header: SidecarHeader }
  | { readonly type: "annotation"; readonly row: Row };

export function isRowKind(word: string): word is (typeof ROW_KINDS)[number] {
  return (ROW_KINDS as readonly string[]).includes(word);
}

export function isFrictionKind(word: string | null): word is FrictionKind {
  return (FRICTION_KINDS as readonly (string | null)[]).includes(word);
}

export function readSidecarLine(value: Json): SidecarLine {
  const type = tagOf(value, "type");
  if (type === "header") return { type, header: header.read(value) };
  if (type === "annotation") return { type, row: readMembers(value as JsonObject, ROW) };
  throw new Unreadable("`type` is neither header nor annotation");
}

export function printSidecarHeader(value: SidecarHeader): string {
  return `{"type":"header",${header.print(value).slice(1)}`;
}

export function printRow(row: Row): string {
  return `{"type":"annotation",${printMembers(row, ROW)}}`;
}

/** As exports have it: without the type, so it is no line of a sidecar. */
export function printExportedRow(row: Row): string {
  return `{${printMembers(row, ROW)}}`;
}

/** How reports name a row: by its id, or by its event when it has none. */
export function nameOfRow({ id, event_id }: Pick<Row, "id" | "event_id">): string {
  return id === "" ? `ann@event_${event_id}` : id;
}

const ANCHOR = {
  event_id: u64,
  end_event_id: u64,
  evidence: optional(text),
  author: optional(object({ id: optional(text), kind: word(...AUTHOR_KINDS), surface: optional(text) })),
  metadata: anyMap,
};
const anchor = object(ANCHOR);
/** A stretch of a tape that a row proposes as a fixed workflow. */
export type Anchor = Decoded<typeof anchor>;

/** Undefined for rows of other kinds. The span is taken as it is, also a bad one. */
export function anchorOf({ kind, event_id, span, evidence, author, metadata }: Row): Anchor | undefined {
  if (kind !== "crystallize_here") return undefined;
  return { event_id, end_event_id: span?.end_event_id ?? event_id, evidence, author, metadata };
}

/** As JSON; `file` is present when there are several. */
export function printAnchor(value: Anchor, file?: string): string {
  const where = file === undefined ? "" : `"file":${text.print(file)},`;
  return `{${where}${printMembers(value, ANCHOR)}}`;
}
