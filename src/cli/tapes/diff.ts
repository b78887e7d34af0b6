import { printFloat, type ReportMember } from "../../formats/json/print-json.ts";
import { type Divergence, DivergenceRows, isOfRecording } from "../../formats/tapes/compare/compare-records.ts";
import {
  type ComparisonMode,
  type ComparisonReport,
  compareTapes,
  messageOf,
  printComparison,
} from "../../formats/tapes/compare/compare-tapes.ts";
import { TapeDigest } from "../../formats/tapes/digest.ts";
import { shownRow } from "../../formats/tapes/show.ts";
import { readSidecar } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { printExportedRow } from "../../formats/tapes/sidecar/sidecar.ts";
import { formatCount } from "../output/amount.ts";
import { printable, shorten } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { TAPE_DIFF_FLAGS } from "./compare-commands.ts";
import { emit } from "./files/place-output.ts";
import { fileBytes, watchedBytes } from "./files/tape-files.ts";

type DiffCall = Call<typeof TAPE_DIFF_FLAGS>;

export async function tapeDiff(call: DiffCall): Promise<number> {
  const { args, flags, json, io } = call;
  const [recorded = "", replay = ""] = args;
  const mode = (flags.mode ?? "byte_identical") as ComparisonMode;
  const digest = flags.annotations === undefined ? undefined : await TapeDigest.start();
  const report = await compareTapes(
    mode,
    { path: recorded, bytes: watchedBytes(recorded, io) },
    { path: replay, bytes: fileBytes(replay) },
    (record) => digest?.add(record),
  );
  const rows = new DivergenceRows(report);
  if (flags.annotations !== undefined) await readRows(call, flags.annotations, rows, digest?.hex());
  if (json) {
    await emit(ended(printComparison(report, flags.annotations === undefined ? [] : rowMembers(rows))), undefined, io);
  } else {
    print(call, report, rows);
  }
  return report.divergences.length === 0 ? EXIT.fine : EXIT.invalid;
}

async function readRows({ args, io }: DiffCall, path: string, rows: DivergenceRows, digest = ""): Promise<void> {
  const header = await readSidecar(path, fileBytes(path), (row) => rows.add(row));
  if (header.tape_content_hash === null || header.tape_content_hash === digest) return;
  io.err(`warning: ${path} belongs to another tape than ${args[0]}: its digest differs`);
}

function* ended(report: Iterable<string>): Generator<string> {
  yield* report;
  yield "\n";
}

/** Members of the report with --annotations, after those of every report. */
function rowMembers(rows: DivergenceRows): ReportMember[] {
  return [
    ["muted", [...rows.muted()].map(String)],
    ["annotations", rows.rows.map(printExportedRow)],
  ];
}

/** The largest number of divergences in a table; the report as JSON has all of them. */
const SHOWN_MAX = 200;

function print({ args, flags, io }: DiffCall, report: ComparisonReport, rows: DivergenceRows): void {
  const { mode, recorded_records, replay_records, divergences } = report;
  const counts = `${formatCount(recorded_records, "recorded event")} and ${formatCount(replay_records, "replayed event")}`;
  const tail = `${counts} (${mode}), score ${printFloat(shownScore(report.score))}`;
  if (divergences.length === 0) {
    io.out(`${args[0]} and ${args[1]} agree: ${tail}`);
    return;
  }
  const muted = rows.muted();
  const listed = divergences.filter((one) => !(isOfRecording(one) && muted.has(one.seq)));
  const shown = listed.slice(0, SHOWN_MAX);
  if (shown.length > 0) {
    const table = formatTable(["SEQ", "CATEGORY", "RECORDED", "REPLAY"], shown.map(cells), io.paint).split("\n");
    for (const [i, line] of table.entries()) {
      io.out(line);
      if (isLastOfEvent(shown, i - 1)) for (const text of judgments(shown[i - 1], rows)) io.out(io.paint.cyan(text));
    }
  }
  if (listed.length > shown.length) {
    io.out(`… and ${formatCount(listed.length - shown.length, "more divergence")}; --json lists all of them`);
  }
  if (muted.size > 0) {
    const hidden = formatCount(divergences.length - listed.length, "divergence");
    io.out(`${hidden} on muted events counted but not listed (${flags.annotations} mutes ${eventList(muted)})`);
  }
  io.out(`${formatCount(divergences.length, "divergence")} in ${tail}`);
}

/** Never rounded up, so that only tapes that agree have 1.0. The small addend keeps 1 − 0.9 at 0.1. */
function shownScore(score: number): number {
  return Math.floor(score * 10_000 + 1e-6) / 10_000;
}

/** Whether this is the last divergence of its event; the annotations of the event follow it. */
function isLastOfEvent(shown: readonly Divergence[], at: number): boolean {
  const [one, next] = [shown[at], shown[at + 1]];
  return one?.seq !== next?.seq || next === undefined;
}

function cells(divergence: Divergence): string[] {
  const { seq, category, recorded, replay } = divergence;
  const event = seq === null ? "–" : String(seq);
  if (recorded === null || replay === null) return [event, category, recorded ?? "–", replay ?? "–"];
  if (recorded === replay) return [event, category, excerpt(recorded, ""), `(${messageOf(divergence)})`];
  return [event, category, excerpt(recorded, replay), excerpt(replay, recorded)];
}

const VALUE_CHARACTERS = 48;
const LEAD_CHARACTERS = 12;

/** The part of a value to show: a long one begins shortly before its first difference from the other, if that would be cut off. */
function excerpt(value: string, other: string): string {
  let same = 0;
  while (same < value.length && value[same] === other[same]) same++;
  const from = same > VALUE_CHARACTERS / 2 && value.length > VALUE_CHARACTERS ? same - LEAD_CHARACTERS : 0;
  const tail = from > 0 ? `…${value.slice(from)}` : value;
  return printable(shorten(tail, VALUE_CHARACTERS));
}

function judgments(divergence: Divergence | undefined, rows: DivergenceRows): string[] {
  if (divergence === undefined) return [];
  return rows.on(divergence).map((row) => {
    const { kind, id, evidence } = shownRow(row);
    return `     [${kind}] ${printable(id)}: ${printable(evidence)}`;
  });
}

const EVENTS_NAMED = 10;

function eventList(seqs: ReadonlySet<bigint>): string {
  const named = [...seqs].slice(0, EVENTS_NAMED).join(", ");
  return seqs.size > EVENTS_NAMED ? `events ${named}, …` : `${seqs.size === 1 ? "event" : "events"} ${named}`;
}
