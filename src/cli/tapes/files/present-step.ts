import { indentJson } from "../../../formats/json/indent-json.ts";
import { printFreeForm } from "../../../formats/json/print-json.ts";
import type { Presentation, Step } from "../../../formats/tapes/present.ts";
import { nameOfRow, printExportedRow, type Row } from "../../../formats/tapes/sidecar/sidecar.ts";
import { printHashedRecord, type TapeRecord } from "../../../formats/tapes/tape.ts";
import { formatCount } from "../../output/amount.ts";
import type { Paint } from "../../output/io.ts";
import { printable } from "../../output/printable.ts";
import { authorText } from "../text/author-text.ts";
import { recordText } from "../text/record-text.ts";

const SPAN_SHOWN = 20;

/** A stop for a person: what was said and by whom, about what, and what would have been better. */
export function stepText({ row, events, span }: Step, index: number, count: number, paint: Paint): string {
  const { kind, evidence, suggested_fix, links } = row;
  return [
    `${paint.dim(`${index + 1}/${count}`)}  ${paint.bold(kind)} ${printable(nameOfRow(row))}${bylineOf(row, paint)}`,
    ...events.map((event) => `  ${eventText(event)}`),
    ...spanText(span, paint),
    ...(evidence === null || evidence === "" ? [] : ["", ...block(evidence)]),
    ...(suggested_fix === null
      ? []
      : ["", `  ${paint.cyan("better")}`, ...block(indentJson(printFreeForm(suggested_fix)))]),
    ...(links.length === 0 ? [] : ["", ...links.map((link) => `  ${paint.dim("see")} ${linkText(link)}`)]),
  ].join("\n");
}

function bylineOf({ author, timestamp }: Row, paint: Paint): string {
  const parts = [
    ...(author === null ? [] : [authorText(author)]),
    ...(timestamp === null ? [] : [printable(timestamp)]),
  ];
  return parts.length === 0 ? "" : paint.dim(`  ${parts.join(", ")}`);
}

function eventText(event: TapeRecord): string {
  return `event ${event.seq}  ${timeText(event.virtual_time_ms)}  ${recordText(event)}`;
}

function spanText(span: readonly TapeRecord[], paint: Paint): string[] {
  const more = span.length - SPAN_SHOWN;
  return [
    ...span.slice(0, SPAN_SHOWN).map((event) => `  ${paint.dim("…")} ${event.seq}  ${recordText(event)}`),
    ...(more > 0 ? [`  ${paint.dim(`… and ${formatCount(more, "more event")}`)}`] : []),
  ];
}

/** Written lines stay lines; nothing else in them moves the cursor. */
function block(text: string): string[] {
  return text.split(/\r?\n/).map((line) => `    ${printable(line)}`.trimEnd());
}

function linkText({ label, url, reference }: Row["links"][number]): string {
  return [label, url, reference].flatMap((part) => (part === null ? [] : [printable(part)])).join("  ");
}

/** What the clock of the run said; a number where that is beyond any date. */
function timeText(unixMs: bigint): string {
  const date = new Date(Number(unixMs));
  return Number.isNaN(date.getTime()) ? `${unixMs} ms` : date.toISOString();
}

/** Rows as exports have them, events as the digest covers them: integers are exact. In pieces, since a span may be long. */
export function* presentationJson({ steps, muted, lost }: Presentation): Generator<string> {
  yield '{"steps":[';
  for (const [i, { row, events, span }] of steps.entries()) {
    yield `${i === 0 ? "" : ","}{"annotation":${printExportedRow(row)},"events":[${events.map(printHashedRecord).join(",")}],"span":[`;
    for (const [j, event] of span.entries()) yield `${j === 0 ? "" : ","}${printHashedRecord(event)}`;
    yield "]}";
  }
  const rows = (some: readonly Row[]) => some.map(printExportedRow).join(",");
  yield `],"muted":[${rows(muted)}],"lost":[${rows(lost)}]}\n`;
}
