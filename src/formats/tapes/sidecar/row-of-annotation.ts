import { type ActorKind, NOTE_MAX, Signal, type Target } from "../../../protocol/judgments/annotation.ts";
import { matches } from "../../../protocol/schema.ts";
import type { FreeForm, FreeMap } from "../../json/print-json.ts";
import { cutText } from "./cut-text.ts";
import type { Row } from "./sidecar.ts";
import { kindOfSignal, signalOfRow } from "./signal-mapping.ts";
import { SUPERSEDES } from "./status-change.ts";

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
