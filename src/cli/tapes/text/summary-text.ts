import type { Count, Summary, SummaryRow } from "../../../formats/tapes/show.ts";
import { firstLine } from "../../../formats/tapes/show.ts";
import { stretchOf } from "../../../formats/tapes/sidecar/current-rows.ts";
import { nameOfRow } from "../../../formats/tapes/sidecar/sidecar.ts";
import { formatCount } from "../../output/amount.ts";
import type { Paint } from "../../output/io.ts";
import { printable, shorten } from "../../output/printable.ts";
import type { Review } from "../files/read-review.ts";
import { authorText } from "./author-text.ts";

const LISTED_MAX = 10;
const EVIDENCE_WIDTH = 100;

/** What a reviewer wants to know first: how it was judged, what is open, and what was left alone. */
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

function some(rows: readonly SummaryRow[], text: (row: SummaryRow) => string): string[] {
  const rest = rows.length - LISTED_MAX;
  return [...rows.slice(0, LISTED_MAX).map(text), ...(rest > 0 ? [`  and ${rest} more`] : [])];
}
