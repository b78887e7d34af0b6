import { printPlain } from "../../formats/json/print-json.ts";
import {
  annotatedEvents,
  blockLines,
  type Count,
  type History,
  histories,
  type LineStyle,
  type ShownRow,
  type Summary,
  shownRow,
  summarize,
  summaryRow,
} from "../../formats/tapes/show.ts";
import { Chains, stretchOf } from "../../formats/tapes/sidecar/current-rows.ts";
import { printExportedRow, type Row, type RowKind } from "../../formats/tapes/sidecar/sidecar.ts";
import { addTo } from "../../formats/text/collections.ts";
import type { Colour, Io, Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { SHOW_FLAGS } from "./file-commands.ts";
import { emit } from "./files/place-output.ts";
import { type Review, readReview, reportProblems } from "./files/read-review.ts";
import { sidecarOf } from "./files/tape-files.ts";
import { historyText, summaryText } from "./summary.ts";

type ShowCall = Call<typeof SHOW_FLAGS>;

export async function show(call: ShowCall): Promise<number> {
  const { args, flags, json, io } = call;
  const [tape = ""] = args;
  const files = { tape, sidecar: flags.annotations ?? sidecarOf(tape) };
  const view = json ? showJson : flags.summary || flags.history ? showViews : showBlock;
  const { problems } = await view(files, call);
  reportProblems(problems, io);
  return problems === 0 ? EXIT.fine : EXIT.invalid;
}

type Files = Parameters<typeof readReview>[0];

async function showBlock(files: Files, { io }: ShowCall): Promise<Review> {
  const rows = new Map<bigint, ShownRow[]>();
  const review = await readReview(files, io, (row) => addTo(rows, row.event_id, shownRow(row)));
  const block = { path: files.sidecar, ...review, rows };
  // Scripts compare the block byte for byte; colours and replaced control characters are for terminals only.
  const lines = io.outIsTerminal ? blockLines(block, terminalStyle(io.paint)) : blockLines(block);
  await emit(ended(lines), undefined, io);
  return review;
}

async function showJson(files: Files, { io }: ShowCall): Promise<Review> {
  const { review, rows, chains } = await heldRows(files, io, (row) => row);
  await emit(reviewJson(review, rows, chains), undefined, io);
  return review;
}

async function showViews(files: Files, { flags, io }: ShowCall): Promise<Review> {
  const { review, rows, chains } = await heldRows(files, io, summaryRow);
  const sections = [
    ...(flags.summary ? [summaryText(review, summarize(rows, chains), io.paint)] : []),
    ...(flags.history ? [historyText(histories(rows, chains), io.paint)] : []),
  ];
  await emit([`${sections.join("\n\n")}\n`], undefined, io);
  return review;
}

async function heldRows<R>(files: Files, io: Io, held: (row: Row) => R) {
  const rows: R[] = [];
  const chains = new Chains();
  const review = await readReview(files, io, (row) => {
    chains.add(row);
    rows.push(held(row));
  });
  return { review, rows, chains };
}

function* ended(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}

const COLOURS: Readonly<Partial<Record<RowKind, Colour>>> = {
  correct: "green",
  incorrect: "red",
  unknown: "red",
  friction: "yellow",
  hypothesis: "cyan",
  alternative: "cyan",
  mute: "dim",
};

/** The style of the run-summary block on a terminal. */
function terminalStyle(paint: Paint): LineStyle {
  return {
    heading: paint.bold,
    event: paint.dim,
    kind: (kind) => paint[COLOURS[kind] ?? "bold"](kind),
    quoted: printable,
  };
}

/** The content of all views, as one JSON document in pieces. Integers are exact. */
function* reviewJson(review: Review, rows: readonly Row[], chains: Chains): Generator<string> {
  yield `{"annotations":${review.annotations},"problems":${review.problems},"events":[`;
  yield* joined(eventTexts(review, rows));
  yield `],"summary":${printPlain(summaryOf(summarize(rows, chains)))},"history":[`;
  yield* joined(historyTexts(histories(rows, chains)));
  yield "]}\n";
}

function* joined(texts: Iterable<string>): Generator<string> {
  let before = "";
  for (const text of texts) {
    yield before + text;
    before = ",";
  }
}

/** Events with annotations, by number, as in the block. */
function* eventTexts({ events }: Review, rows: readonly Row[]): Generator<string> {
  const byEvent = new Map<bigint, Row[]>();
  for (const row of rows) addTo(byEvent, row.event_id, row);
  for (const { seq, virtual_time_ms, kind } of annotatedEvents(events, byEvent)) {
    const annotations = (byEvent.get(seq) ?? []).map(printExportedRow).join(",");
    yield `{"seq":${seq},"virtual_time_ms":${virtual_time_ms},"kind":"${kind}","annotations":[${annotations}]}`;
  }
}

function summaryOf({ counted, replaced, muted, mutes, kinds, frictionKinds, hypothesisStatuses }: Summary) {
  const named = (counts: readonly Count[]) => Object.fromEntries(counts.map(({ name, count }) => [name, count]));
  return {
    counted: counted.length,
    replaced,
    muted,
    mutedEvents: mutes.map(stretchOf).map(({ first, last }) => ({ first, last })),
    kinds: named(kinds),
    frictionKinds: named(frictionKinds),
    hypothesisStatuses: named(hypothesisStatuses),
  };
}

function* historyTexts(histories: readonly History<Row>[]): Generator<string> {
  for (const { steps } of histories) {
    const texts = steps.map(({ row, replaces, isNewest, isAdvised }) => {
      const about = printPlain({ replaces: replaces?.id ?? null, newest: isNewest, advised: isAdvised });
      return `${about.slice(0, -1)},"annotation":${printExportedRow(row)}}`;
    });
    yield `{"steps":[${texts.join(",")}]}`;
  }
}
