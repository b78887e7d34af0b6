import { indentJson, printFreeForm } from "../../formats/json/print-json.ts";
import { type Presentation, presentationOf, type Step, Stops } from "../../formats/tapes/present.ts";
import { readTape } from "../../formats/tapes/read-tape.ts";
import { readSidecar } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { nameOfRow, printExportedRow, type Row } from "../../formats/tapes/sidecar/sidecar.ts";
import { printHashedRecord, type TapeRecord } from "../../formats/tapes/tape.ts";
import { formatCount } from "../output/amount.ts";
import { authorText, recordText } from "../output/describe-record.ts";
import type { Io, Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { TAPE_PRESENT_FLAGS } from "./compare-commands.ts";
import { emit } from "./files/place-output.ts";
import { sidecarOf, tapeHeader, watchedBytes } from "./files/tape-files.ts";

/** The largest number of rows to name. */
const LOST_NAMED = 10;

export async function tapePresent({ args, flags, json, io }: Call<typeof TAPE_PRESENT_FLAGS>): Promise<number> {
  const [tape = ""] = args;
  const presentation = await load(tape, flags.annotations ?? sidecarOf(tape), io);
  const { steps, muted, lost } = presentation;
  if (json) {
    await emit(presentationJson(presentation), undefined, io);
  } else if (steps.length === 0) {
    io.out("There are no steps: no row is a marker or an alternative.");
  } else if (io.ask !== undefined && io.outIsTerminal) {
    await walk(presentation, io, io.ask);
  } else {
    await emit(allSteps(presentation, io), undefined, io);
  }
  if (muted.length > 0 && !json) io.err(`${formatCount(muted.length, "stop")} left out: the events are muted.`);
  if (lost.length === 0) return EXIT.fine;
  const names = lost.slice(0, LOST_NAMED).map((row) => `${printable(nameOfRow(row))} on event ${row.event_id}`);
  if (lost.length > LOST_NAMED) names.push(`and ${lost.length - LOST_NAMED} more`);
  io.err(`The tape has no such event: ${names.join(", ")}. See \`assay tape validate\`.`);
  return EXIT.invalid;
}

/** Reads the rows first: they decide which events of the tape are kept in memory. */
async function load(tape: string, sidecar: string, io: Io): Promise<Presentation> {
  // The tape is checked first: a mistyped name is most likely that of the tape, and the sidecar's name is derived from it.
  await tapeHeader(tape);
  const stops = new Stops();
  await readSidecar(sidecar, watchedBytes(sidecar, io), (row) => stops.add(row));
  const plan = stops.finish();
  const records: TapeRecord[] = [];
  await readTape(tape, watchedBytes(tape, io), (record) => {
    if (plan.wants.has(record.seq)) records.push(record);
  });
  return presentationOf(plan, records);
}

function* allSteps({ steps }: Presentation, { paint }: Io): Generator<string> {
  for (const [i, step] of steps.entries()) yield `${i === 0 ? "" : "\n"}${stepText(step, i, steps.length, paint)}\n`;
}

/** Shows one step after the other, until the last one or `q`. */
async function walk({ steps }: Presentation, io: Io, ask: NonNullable<Io["ask"]>): Promise<void> {
  for (let at = 0; ; ) {
    const step = steps[at];
    if (step === undefined) return;
    io.out(`${stepText(step, at, steps.length, io.paint)}\n`);
    const next = at + 1 < steps.length ? "Enter next" : "Enter ends";
    const answer = await ask(`${next}, ${at > 0 ? "b back, " : ""}q quit: `);
    // Ends the line of the prompt.
    if (answer === undefined) return io.err("");
    if (/^\s*q/i.test(answer)) return;
    at = /^\s*b/i.test(answer) ? Math.max(0, at - 1) : at + 1;
  }
}

const SPAN_SHOWN = 20;

/** A step as text: the row and its author, its events, and the suggested fix. */
function stepText({ row, events, span }: Step, index: number, count: number, paint: Paint): string {
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

/** Indented lines of a text. Only its line ends stay; other control characters are replaced. */
function block(text: string): string[] {
  return text.split(/\r?\n/).map((line) => `    ${printable(line)}`.trimEnd());
}

function linkText({ label, url, reference }: Row["links"][number]): string {
  return [label, url, reference].flatMap((part) => (part === null ? [] : [printable(part)])).join("  ");
}

/** The time of the run's clock; a number where it is not a valid date. */
function timeText(unixMs: bigint): string {
  const date = new Date(Number(unixMs));
  return Number.isNaN(date.getTime()) ? `${unixMs} ms` : date.toISOString();
}

/** Rows in the form of exports, events in the form of the digest, so that integers are exact. In pieces, because a span may be long. */
function* presentationJson({ steps, muted, lost }: Presentation): Generator<string> {
  yield '{"steps":[';
  for (const [i, { row, events, span }] of steps.entries()) {
    yield `${i === 0 ? "" : ","}{"annotation":${printExportedRow(row)},"events":[${events.map(printHashedRecord).join(",")}],"span":[`;
    for (const [j, event] of span.entries()) yield `${j === 0 ? "" : ","}${printHashedRecord(event)}`;
    yield "]}";
  }
  const rows = (some: readonly Row[]) => some.map(printExportedRow).join(",");
  yield `],"muted":[${rows(muted)}],"lost":[${rows(lost)}]}\n`;
}
