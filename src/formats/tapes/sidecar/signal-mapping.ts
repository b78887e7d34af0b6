import { CORRECTION_MAX, type Signal } from "../../../protocol/judgments/annotation.ts";
import { type FreeForm, printFreeForm } from "../../json/print-json.ts";
import { cutText } from "./cut-text.ts";
import { FRICTION_KINDS, HYPOTHESIS_STATUSES, isFrictionKind, type Row, type RowKind } from "./sidecar.ts";

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
export function kindOfSignal({ kind, label, correction }: Signal): KindFields {
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
