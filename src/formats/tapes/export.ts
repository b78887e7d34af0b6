import { anyMap, list, object, optional, text } from "../json/codec.ts";
import { type FreeMap, printFloat } from "../json/print-json.ts";
import { FileError } from "../text/file-error.ts";
import {
  type FrictionKind,
  isFrictionKind,
  isRowKind,
  printExportedRow,
  ROW_KINDS,
  type Row,
  type RowKind,
} from "./sidecar/sidecar.ts";

export const EXPORT_FORMATS = ["jsonl", "friction"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportChoice {
  /** Empty selects every kind, unknown ones included. */
  readonly kinds: ReadonlySet<RowKind>;
  readonly format: ExportFormat;
}

/** Validates the words of a request, kinds before the format. `path` is the sidecar of the request, which has not been opened yet. */
export function exportChoice(path: string, kinds: readonly string[], format: string | undefined): ExportChoice {
  return { kinds: new Set(kinds.map((word) => kindNamed(word, path))), format: formatNamed(format, path) };
}

function kindNamed(word: string, path: string): RowKind {
  if (isRowKind(word)) return word;
  const message = `unknown annotation kind '${word}' (expected one of ${ROW_KINDS.join(", ")})`;
  throw new FileError("unknown_kind_filter", path, message);
}

/** Scripts may pass on variables that are empty. */
function formatNamed(word: string | undefined, path: string): ExportFormat {
  if (word === undefined || word === "") return "jsonl";
  const format = EXPORT_FORMATS.find((one) => one === word);
  if (format !== undefined) return format;
  throw new FileError("bad_format", path, `--format must be \`jsonl\` or \`friction\`, got \`${word}\``);
}

export function isSelected({ kinds }: ExportChoice, row: Row): boolean {
  return kinds.size === 0 || kinds.has(row.kind);
}

/** The line of a selected row, without its end; undefined when this format cannot express it. */
export function exportedLine(row: Row, format: ExportFormat, source: FrictionSource): string | undefined {
  if (format === "jsonl") return printExportedRow(row);
  const event = frictionOf(row, source);
  return event && printFrictionEvent(event);
}

const FRICTION_EVENT_VERSION = 1n;

/**
 * A recurring problem that costs people time, from a sidecar or from elsewhere. Names and order are those of the export; most members are
 * only known where friction is recorded as it happens.
 */
export interface FrictionEvent {
  readonly schema_version: bigint;
  readonly id: string;
  readonly kind: FrictionKind;
  readonly source: string | null;
  readonly actor: string | null;
  readonly tenant_id: string | null;
  readonly task_id: string | null;
  readonly run_id: string | null;
  readonly workflow_id: string | null;
  readonly tool: string | null;
  readonly provider: string | null;
  readonly redacted_summary: string;
  readonly estimated_cost_usd: number | null;
  readonly estimated_time_ms: bigint | null;
  readonly recurrence_hints: readonly string[];
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly links: readonly FrictionLink[];
  readonly human_hypothesis: null;
  readonly metadata: FreeMap;
  readonly timestamp: string;
}

export interface FrictionLink {
  readonly label: string | null;
  readonly url: string | null;
  readonly trace_id: string | null;
}

export interface FrictionSource {
  /** The tape's path in the header of the sidecar. */
  readonly tapePath: string | null;
  /** For rows without a time of their own. */
  readonly now: Date;
}

/** The friction of a row; undefined for rows of another kind, or without a known kind of friction. Nothing is redacted here. */
export function frictionOf(row: Row, { tapePath, now }: FrictionSource): FrictionEvent | undefined {
  const kind = row.friction_kind;
  if (row.kind !== "friction" || !isFrictionKind(kind)) return undefined;
  return {
    schema_version: FRICTION_EVENT_VERSION,
    id: row.id === "" ? `annotation_${row.event_id}` : row.id,
    kind,
    source: tapePath,
    actor: row.author?.id ?? null,
    tenant_id: null,
    task_id: null,
    run_id: null,
    workflow_id: null,
    tool: null,
    provider: null,
    redacted_summary: row.evidence ?? `annotation ${row.id} on event ${row.event_id}`,
    estimated_cost_usd: null,
    estimated_time_ms: null,
    recurrence_hints: [],
    trace_id: null,
    span_id: null,
    links: row.links.map(({ label, url, reference }) => ({ label, url, trace_id: reference })),
    human_hypothesis: null,
    metadata: row.metadata,
    timestamp: row.timestamp ?? now.toISOString(),
  };
}

const maybeText = optional(text).print;

/** In the order of the export. */
const PRINTED: { readonly [K in keyof FrictionEvent]: (value: FrictionEvent[K]) => string } = {
  schema_version: String,
  id: text.print,
  kind: text.print,
  source: maybeText,
  actor: maybeText,
  tenant_id: maybeText,
  task_id: maybeText,
  run_id: maybeText,
  workflow_id: maybeText,
  tool: maybeText,
  provider: maybeText,
  redacted_summary: text.print,
  estimated_cost_usd: (value) => (value === null ? "null" : printFloat(value)),
  estimated_time_ms: String,
  recurrence_hints: list(text).print,
  trace_id: maybeText,
  span_id: maybeText,
  links: list(object({ label: optional(text), url: optional(text), trace_id: optional(text) })).print,
  human_hypothesis: String,
  metadata: anyMap.print,
  timestamp: text.print,
};

export function printFrictionEvent(event: FrictionEvent): string {
  const print = <K extends keyof FrictionEvent & string>(name: K) => `"${name}":${PRINTED[name](event[name])}`;
  return `{${(Object.keys(PRINTED) as (keyof FrictionEvent)[]).map(print).join(",")}}`;
}
