import type { History, Step, SummaryRow } from "../../../formats/tapes/show.ts";
import { firstLine } from "../../../formats/tapes/show.ts";
import { nameOfRow } from "../../../formats/tapes/sidecar/sidecar.ts";
import type { Paint } from "../../output/io.ts";
import { printable } from "../../output/printable.ts";
import { authorText } from "./author-text.ts";

/** Each with a line that says what holds now, and below it who said what, when and why. */
export function historyText(histories: readonly History<SummaryRow>[], paint: Paint): string {
  if (histories.length === 0) return "No hypotheses, and nothing was replaced.";
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

/** How far a hypothesis is, or what kind of row it is. */
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

/** Empty columns are left out. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? "").length)));
  return rows.map((row) => {
    const cells = row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).filter((_, i) => widths[i] !== 0);
    return `  ${cells.join("  ")}`.trimEnd();
  });
}
