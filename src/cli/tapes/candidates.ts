import { type Plain, printFreeForm, printPlain } from "../../formats/json/print-json.ts";
import {
  type Candidate,
  CandidateFinder,
  type CandidateStep,
  type Example,
  pickRecords,
  type Variation,
} from "../../formats/tapes/candidates/candidates.ts";
import { EXAMPLES_MIN, rankSequences, SEQUENCE_MAX } from "../../formats/tapes/candidates/rank.ts";
import { Signatures, type Trace, TraceBuilder } from "../../formats/tapes/candidates/trace.ts";
import { readTape } from "../../formats/tapes/read-tape.ts";
import { CurrentRows } from "../../formats/tapes/sidecar/current-rows.ts";
import { readSidecar } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { type Anchor, anchorOf } from "../../formats/tapes/sidecar/sidecar.ts";
import type { TapeRecord } from "../../formats/tapes/tape.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { formatCount } from "../output/amount.ts";
import { authorText, labelled } from "../output/describe-record.ts";
import type { Io, Paint } from "../output/io.ts";
import { printable, shorten } from "../output/printable.ts";
import { firstLines } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { TAPE_CANDIDATES_FLAGS } from "./compare-commands.ts";
import { loadEach, skippedJson, tapeFiles } from "./files/find-files.ts";
import { isThere, sidecarOf, watchedBytes } from "./files/tape-files.ts";

const LIMIT = 20;

export async function tapeCandidates({ args, flags, json, io }: Call<typeof TAPE_CANDIDATES_FLAGS>): Promise<number> {
  const { paths } = await tapeFiles(args[0] ?? "");
  const signatures = new Signatures();
  const traces: Trace[] = [];
  const skipped = await loadEach(paths, { skipBroken: flags.skipBroken, io }, async (path) => {
    const builder = new TraceBuilder(path, signatures, await anchorsOf(path, io));
    await readTape(path, watchedBytes(path, io), (record) => builder.add(record));
    traces.push(builder.finish());
  });
  const minExamples = Math.max(flags.minExamples ?? EXAMPLES_MIN, EXAMPLES_MIN);
  const ranked = rankSequences(traces, signatures, { minExamples, limit: flags.limit ?? LIMIT });
  const candidates = await described(new CandidateFinder(ranked, traces, signatures), io);
  const sums = { tapes: traces.length, minExamples, found: ranked.found };
  if (json) {
    const result = { ...sums, candidates: candidates.map(candidateJson), skipped: skippedJson(skipped) };
    io.out(printPlain(result as unknown as Plain));
  } else {
    io.out(candidatesText(candidates, sums, io.paint));
  }
  return skipped.length === 0 ? EXIT.fine : EXIT.invalid;
}

async function anchorsOf(tape: string, io: Io): Promise<Anchor[]> {
  const sidecar = sidecarOf(tape);
  if (!(await isThere(sidecar))) return [];
  const rows = new CurrentRows(["crystallize_here"], (row) => row);
  await readSidecar(sidecar, watchedBytes(sidecar, io), (row) => rows.add(row));
  return rows.split().heard.flatMap((row) => anchorOf(row) ?? []);
}

/** Reads the records of the sequences again. */
async function described(finder: CandidateFinder, io: Io): Promise<Candidate[]> {
  const picked = new Map<Trace, ReadonlyMap<number, TapeRecord>>();
  for (const [trace, places] of finder.places()) {
    picked.set(trace, await pickRecords(trace.path, watchedBytes(trace.path, io), places));
  }
  const candidates = finder.candidates((trace, place) => picked.get(trace)?.get(place));
  if (candidates !== undefined) return candidates;
  throw unusableInput("a tape has changed while it was read; try again");
}

const TAPES_SHOWN = 5;
const TEXT_MAX = 100;

interface CandidateSums {
  readonly tapes: number;
  readonly minExamples: number;
  /** The number of sequences, also of those that are not listed. */
  readonly found: number;
}

/** Repeated sequences as text, in the order of their rank. */
function candidatesText(candidates: readonly Candidate[], sums: CandidateSums, paint: Paint): string {
  const { tapes, minExamples, found } = sums;
  if (tapes < minExamples) return `Nothing to compare: ${formatCount(tapes, "tape")}, and ${minExamples} are needed.`;
  if (found === 0) return `No sequence of actions is in ${minExamples} or more of ${formatCount(tapes, "tape")}.`;
  const rest = found - candidates.length;
  return [
    ...candidates.map((candidate, i) => candidateText(candidate, i, tapes, paint)),
    ...(rest > 0 ? [paint.dim(`${formatCount(rest, "more sequence")}; --limit shows more.`)] : []),
  ].join("\n\n");
}

function candidateText(candidate: Candidate, index: number, tapes: number, paint: Paint): string {
  const { steps, stretch, anchors, varies, confidence } = candidate;
  const longer = stretch > SEQUENCE_MAX ? `, part of ${stretch} that are the same there` : "";
  const heading = `${formatCount(steps.length, "step")}${longer}, in ${candidate.tapes.length} of ${formatCount(tapes, "tape")}`;
  return [
    `${index + 1}. ${paint.bold(heading)}, confidence ${confidence.toFixed(2)}`,
    ...steps.map((step, i) => `   ${String(i + 1).padStart(2)}  ${stepText(step, paint)}`),
    ...labelled("asked for", anchors.map(anchorText), paint),
    ...labelled("found in", tapesText(candidate.tapes), paint),
    ...labelled("varies", varies.map(variationText), paint),
  ].join("\n");
}

function stepText({ kind, name, parameters, deterministic }: CandidateStep, paint: Paint): string {
  const called = parameters.length === 0 ? "" : ` (${shown(parameters.join(", "))})`;
  return `${kind} ${shown(name)}${called}${deterministic ? "" : paint.yellow("  a model decides")}`;
}

function anchorText({ path, anchor }: Candidate["anchors"][number]): string {
  const { author, evidence, event_id } = anchor;
  const why = evidence === null || evidence === "" ? "" : `: ${shown(evidence)}`;
  return `by ${author === null ? "an unknown author" : authorText(author)} at ${shown(path)} event ${event_id}${why}`;
}

function tapesText(examples: readonly Example[]): readonly string[] {
  const lines = examples.map(({ path, firstSeq, lastSeq }) => `${shown(path)} from event ${firstSeq} to ${lastSeq}`);
  return firstLines(lines, TAPES_SHOWN, (left) => `and ${formatCount(left, "more tape")}`);
}

function variationText({ step, parameter, distinct, examples }: Variation): string {
  const values = examples.map((value) => shorten(printable(printFreeForm(value)), TEXT_MAX / 2)).join(", ");
  return `step ${step + 1} ${shown(parameter)}: ${values}${distinct > examples.length ? `, … (${distinct} values)` : ""}`;
}

function shown(text: string): string {
  return shorten(printable(text), TEXT_MAX);
}

/** A candidate as JSON. Steps and ranks count from 1. */
function candidateJson({ steps, tapes, anchors, confidence, stretch, varies }: Candidate, index: number) {
  const marked = anchors.map(({ path, anchor }) => ({ path, ...anchor }));
  const variations = varies.map((one) => ({ ...one, step: one.step + 1 }));
  return { rank: index + 1, steps, tapes, anchors: marked, confidence, stretch, varies: variations };
}
