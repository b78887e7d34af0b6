import {
  type ActorKind,
  CORRECTION_MAX,
  NOTE_MAX,
  Signal,
  type Target,
} from "../../../protocol/judgments/annotation.ts";
import { matches } from "../../../protocol/schema.ts";
import { JsonObject, readJson } from "../../json/exact-json.ts";
import { type FreeForm, type FreeMap, printFreeForm, printString } from "../../json/print-json.ts";
import { trimSpace } from "../../text/lines.ts";
import { SUPERSEDES } from "./new-row.ts";
import {
  type AUTHOR_KINDS,
  FRICTION_KINDS,
  HYPOTHESIS_STATUSES,
  isFrictionKind,
  printRow,
  type Row,
  type RowKind,
} from "./sidecar.ts";

/** What never changes of a judgment, whatever becomes of it: so the row that is made of it never changes either. */
export interface Judged {
  readonly annotationId: string;
  readonly signal: Signal;
  readonly target: Target;
  readonly note?: string;
  readonly actor: string;
  readonly actorKind: ActorKind;
  readonly confidence?: number;
  readonly createdAtMs: number;
}

export interface RowPlace {
  /** The number of the event it is about, or of the first one when it is about more than one. */
  readonly eventId: bigint;
  /** Whether that number says all there is to say of the target. */
  readonly isTarget: boolean;
  /** The row it replaced: by its id, or by the annotation when it has none. */
  readonly supersedes?: { readonly id: string; readonly annotationId: string };
}

export const AUTHORS = { person: "human", agent: "agent", code: "system" } as const satisfies Record<ActorKind, string>;

/** The member of `metadata` that holds what a row has no place for. */
const ASSAY = "assay";

/** A judgment that did not come from the file, as a row of it. Nothing is lost: members without a place in the kind are in `metadata.assay`. */
export function rowOfAnnotation(judged: Judged, { eventId, isTarget, supersedes }: RowPlace): Row {
  const { annotationId, signal, target, note, actor, actorKind, confidence, createdAtMs } = judged;
  const fields = kindOfSignal(signal);
  const assay = new Map<string, FreeForm>([
    ...(sameSignal(signalOfRow(fields), signal) ? [] : [["signal", signalMap(signal)] as const]),
    ...(isTarget ? [] : [["target", new Map(Object.entries(target))] as const]),
    ...(confidence === undefined ? [] : [["confidence", confidence] as const]),
    ...(supersedes?.id === "" ? [[SUPERSEDES, supersedes.annotationId] as const] : []),
  ]);
  const link = supersedes === undefined || supersedes.id === "" ? [] : [[SUPERSEDES, supersedes.id] as const];
  return {
    ...fields,
    id: annotationId,
    event_id: eventId,
    evidence: note ?? null,
    author: { id: actor, kind: AUTHORS[actorKind], surface: "assay" },
    timestamp: new Date(createdAtMs).toISOString(),
    span: null,
    links: [],
    metadata: new Map<string, FreeForm>([...link, ...(assay.size === 0 ? [] : [[ASSAY, assay] as const])]),
  };
}

function signalMap({ kind, rating, label, correction }: Signal): FreeMap {
  return new Map<string, FreeForm>([
    ["kind", kind],
    ...(rating === undefined ? [] : [["rating", BigInt(rating)] as const]),
    ...(label === undefined ? [] : [["label", label] as const]),
    ...(correction === undefined ? [] : [["correction", correction] as const]),
  ]);
}

function sameSignal(a: Signal, b: Signal): boolean {
  return (["kind", "rating", "label", "correction"] as const).every((name) => a[name] === b[name]);
}

export interface RowJudgment {
  readonly signal: Signal;
  readonly note?: string;
  /** Where `metadata.assay` names something else than the event. */
  readonly target?: Target;
  readonly confidence?: number;
}

/** The judgment that a row makes. `metadata.assay` counts as long as the row was not changed since. */
export function judgmentOfRow(row: Row): RowJudgment {
  const assay = plain(row.metadata.get(ASSAY) ?? null) as Record<string, unknown> | null;
  const { signal, target, confidence } = typeof assay === "object" && assay !== null ? assay : {};
  const note = row.evidence === null || row.evidence === "" ? {} : { note: cutText(row.evidence, NOTE_MAX) };
  return {
    signal: isSignalOf(row, signal) ? signal : signalOfRow(row),
    ...note,
    ...(isTarget(target) ? { target } : {}),
    ...(typeof confidence === "number" && confidence >= 0 && confidence <= 1 ? { confidence } : {}),
  };
}

function isSignalOf(row: Row, value: unknown): value is Signal {
  if (!matches(Signal, value)) return false;
  // No database takes it; what a row says by itself is made storable.
  if (`${value.label}${value.correction}`.includes("\0")) return false;
  const { kind, suggested_fix, hypothesis_status, friction_kind } = kindOfSignal(value);
  if (suggested_fix !== row.suggested_fix) return false;
  return kind === row.kind && hypothesis_status === row.hypothesis_status && friction_kind === row.friction_kind;
}

function isTarget(value: unknown): value is Target {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(
    ([name, id]) => (name === "eventId" || name === "nodeId") && typeof id === "string" && id.length > 0,
  );
}

/** As schemas know values. Integers that a double cannot hold are none that a judgment has. */
function plain(value: FreeForm): unknown {
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, one]) => [name, plain(one)]));
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === "bigint" ? Number(value) : value;
}

/** What a row is called among judgments. Labels `pass` and `fail` are verdicts there, so grading a tape counts like any other. */
export const LABELS: Readonly<Record<RowKind, string>> = {
  correct: "pass",
  incorrect: "fail",
  /** Without a fix; with one it is a correction. */
  alternative: "alternative",
  note: "note",
  marker: "marker",
  mute: "mute",
  hypothesis: "hypothesis",
  friction: "friction",
  crystallize_here: "crystallize_here",
  unknown: "unknown",
};

/** A row as a judgment. The row has further members, and is kept with the judgment. */
export function signalOfRow(row: Pick<Row, "kind" | "suggested_fix" | "hypothesis_status" | "friction_kind">): Signal {
  const { kind, suggested_fix } = row;
  const correction = suggested_fix === null ? {} : { correction: cutText(fixText(suggested_fix), CORRECTION_MAX) };
  if (kind === "alternative" && suggested_fix !== null) return { kind: "correction", ...correction };
  return { kind: "label", label: LABELS[kind] + detailOf(row), ...correction };
}

function fixText(fix: FreeForm): string {
  return typeof fix === "string" ? fix : printFreeForm(fix);
}

function detailOf({ kind, hypothesis_status, friction_kind }: Parameters<typeof signalOfRow>[0]): string {
  if (kind === "hypothesis" && hypothesis_status !== null) return `:${hypothesis_status}`;
  return kind === "friction" && isFrictionKind(friction_kind) ? `:${friction_kind}` : "";
}

export type KindFields = Pick<Row, "kind" | "suggested_fix" | "hypothesis_status" | "friction_kind">;

/**
 * The way back: the kind that says what a judgment says, as far as there is one, and a note for ratings, flags and other labels. What
 * comes of it is always a row that passes validation.
 */
function kindOfSignal({ kind, label, correction }: Signal): KindFields {
  const fix = { suggested_fix: correction ?? null };
  if (kind === "correction") return { kind: "alternative", ...NO_DETAIL, ...fix };
  return { ...NO_DETAIL, ...((kind === "label" && BY_LABEL.get(label ?? "")) || { kind: "note" }), ...fix };
}

const NO_DETAIL = { hypothesis_status: null, friction_kind: null } as const;

type LabelledKind = Pick<Row, "kind"> & Partial<Pick<Row, "hypothesis_status" | "friction_kind">>;

const BY_LABEL: ReadonlyMap<string, LabelledKind> = new Map<string, LabelledKind>([
  ...(["correct", "incorrect", "alternative", "note", "marker", "mute", "crystallize_here"] as const).map(
    (kind): [string, LabelledKind] => [LABELS[kind], { kind }],
  ),
  ...HYPOTHESIS_STATUSES.map((status): [string, LabelledKind] => [
    `${LABELS.hypothesis}:${status}`,
    { kind: "hypothesis", hypothesis_status: status },
  ]),
  ...FRICTION_KINDS.map((friction): [string, LabelledKind] => [
    `${LABELS.friction}:${friction}`,
    { kind: "friction", friction_kind: friction },
  ]),
]);

const MORE = " …";

/** At most so many characters, never half of one; what was cut ends in dots. Characters that no database takes are replaced. */
function cutText(text: string, max: number): string {
  const storable = text.replaceAll("\0", "\ufffd");
  if (storable.length <= max) return storable;
  const cut = storable.slice(0, max - MORE.length);
  return (cut.isWellFormed() ? cut : cut.slice(0, -1)) + MORE;
}

export interface NamedAuthor {
  readonly id: string;
  readonly kind: (typeof AUTHOR_KINDS)[number];
}

/** The author that a row names, or the one who pushes it. */
export function authorNameOf({ author }: Pick<Row, "author">, pusher: string): string {
  return author?.id || pusher;
}

/** The line of a row with its author named. A line without an author stays as it was written; any other is printed anew. */
export function nameAuthor(line: string, row: Row, author: NamedAuthor): string {
  const json = readJson(trimSpace(line));
  const isNamed = json instanceof JsonObject && json.members.some(([name]) => name === "author");
  const surface = row.author?.surface ?? null;
  if (isNamed) return printRow({ ...row, author: { ...author, surface } });
  const end = line.lastIndexOf("}");
  const named = `,"author":{"id":${printString(author.id)},"kind":"${author.kind}"}`;
  return line.slice(0, end) + named + line.slice(end);
}
