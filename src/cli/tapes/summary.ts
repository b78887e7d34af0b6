import {
  type Count,
  firstLine,
  type History,
  type Step,
  type Summary,
  type SummaryRow,
} from "../../formats/tapes/show.ts";
import { stretchOf } from "../../formats/tapes/sidecar/current-rows.ts";
import { nameOfRow } from "../../formats/tapes/sidecar/sidecar.ts";
import { formatCount } from "../output/amount.ts";
import { authorText } from "../output/describe-record.ts";
import type { Paint } from "../output/io.ts";
import { printable, shorten } from "../output/printable.ts";
import { firstLines } from "../output/table.ts";
import type { Review } from "./files/read-review.ts";

const LISTED_MAX = 10;
const EVIDENCE_WIDTH = 100;

/** A summary as text: counts by kind, open hypotheses, muted events and replaced rows. */
export function summaryText({ events }: Pick<Review, "events">, summary: Summary, paint: Paint): string {
  const { counted, kinds, frictionKinds, hypothesisStatuses, replaced } = summary;
  const judged = new Set(counted.map(({ event_id }) => event_id)).size;
  const what = `${formatCount(counted.length, "annotation")} on ${formatCount(judged, "event")}`;
  const open = counted.filter((row) => row.hypothesis_status === "active" || row.hypothesis_status === "verifying");
  return [
    paint.bold(`${what}; the tape has ${formatCount(events.length, "event")}`),
    ...(counted.length > 0 ? [`  ${listed(kinds)}`] : []),
    ...(frictionKinds.length === 0 ? [] : [`Friction: ${listed(frictionKinds)}`]),
    ...(hypothesisStatuses.length === 0 ? [] : [`Hypotheses: ${listed(hypothesisStatuses)}`]),
    ...some(open, (row) => `  ${row.hypothesis_status}: ${described(row)}`),
    ...mutedText(summary),
    ...(replaced === 0 ? [] : [`Replaced by later ones, and not counted: ${formatCount(replaced, "annotation")}`]),
  ].join("\n");
}

function listed(counts: readonly Count[]): string {
  return counts.map(({ name, count }) => `${count} ${name}`).join(", ");
}

function mutedText({ mutes, muted }: Summary): string[] {
  if (mutes.length === 0) return [];
  return [
    muted === 0
      ? "Muted:"
      : `Muted, with ${formatCount(muted, "annotation")} that ${muted === 1 ? "is" : "are"} not counted:`,
    ...some(mutes, (row) => {
      const { first, last } = stretchOf(row);
      return `  ${first === last ? `event ${first}` : `events ${first} to ${last}`}${because(row)}`;
    }),
  ];
}

function described(row: SummaryRow): string {
  return `${printable(nameOfRow(row))} on event ${row.event_id}${because(row)}`;
}

function because({ author, evidence }: SummaryRow): string {
  const who = author === null ? "" : `, ${authorText(author)}`;
  const why =
    evidence === null || evidence === "" ? "" : `: ${shorten(printable(firstLine(evidence)), EVIDENCE_WIDTH)}`;
  return who + why;
}

function some(rows: readonly SummaryRow[], text: (row: SummaryRow) => string): readonly string[] {
  return firstLines(rows.map(text), LISTED_MAX, (left) => `  and ${left} more`);
}

/** Histories as text: the current state, and below it each step with its time, author and reason. */
export function historyText(histories: readonly History<SummaryRow>[], paint: Paint): string {
  if (histories.length === 0) return "No hypotheses, and no replaced annotations.";
  return histories.map((history) => oneHistory(history, paint)).join("\n");
}

function oneHistory({ steps }: History<SummaryRow>, paint: Paint): string {
  const [first] = steps as readonly [Step<SummaryRow>, ...Step<SummaryRow>[]];
  const now = steps.filter(({ isNewest }) => isNewest).map(({ row }) => stateOf(row));
  const heading = `${printable(nameOfRow(first.row))} on event ${first.row.event_id}: ${now.join(" and ")}`;
  const cells = steps.map((step, i) => [
    stateOf(step.row),
    step.row.timestamp === null ? "" : printable(step.row.timestamp),
    step.row.author === null ? "" : authorText(step.row.author),
    [...(step.row.evidence ? [printable(firstLine(step.row.evidence))] : []), ...remarks(step, steps[i - 1])].join(" "),
  ]);
  return [paint.bold(heading), ...aligned(cells)].join("\n");
}

/** The status of a hypothesis, else the kind of the row. */
function stateOf({ kind, hypothesis_status }: SummaryRow): string {
  return kind === "hypothesis" ? (hypothesis_status ?? "no status") : kind;
}

function remarks({ row, replaces, isAdvised }: Step<SummaryRow>, before: Step<SummaryRow> | undefined): string[] {
  return [
    ...(replaces !== undefined && replaces !== before?.row
      ? [`(${printable(nameOfRow(row))} replaces ${printable(nameOfRow(replaces))})`]
      : []),
    ...(isAdvised ? [] : [`(unusual after ${replaces?.hypothesis_status})`]),
  ];
}

/** Aligned columns without the empty ones. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? "").length)));
  return rows.map((row) => {
    const cells = row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).filter((_, i) => widths[i] !== 0);
    return `  ${cells.join("  ")}`.trimEnd();
  });
}
