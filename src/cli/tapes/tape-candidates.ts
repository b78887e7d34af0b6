import { type Plain, printPlain } from "../../formats/json/print-plain.ts";
import { type Candidate, CandidateFinder, pickRecords } from "../../formats/tapes/candidates/candidates.ts";
import { EXAMPLES_MIN, rankSequences } from "../../formats/tapes/candidates/rank.ts";
import { Signatures, type Trace, TraceBuilder } from "../../formats/tapes/candidates/trace.ts";
import { readTape } from "../../formats/tapes/read-tape.ts";
import { CurrentRows } from "../../formats/tapes/sidecar/current-rows.ts";
import { readSidecar } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { type Anchor, anchorOf } from "../../formats/tapes/sidecar/sidecar.ts";
import type { TapeRecord } from "../../formats/tapes/tape.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Io } from "../output/io.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { TAPE_CANDIDATES_FLAGS } from "./commands/patterns.ts";
import { watchedBytes } from "./files/file-bytes.ts";
import { loadEach, skippedJson, tapeFiles } from "./files/sidecar-files.ts";
import { sidecarOf } from "./files/tape-paths.ts";
import { candidateJson, candidatesText } from "./text/candidates-text.ts";
import { isThere } from "./text/tape-header.ts";

const LIMIT = 20;

export async function tapeCandidates({ args, flags, json, io }: Call<typeof TAPE_CANDIDATES_FLAGS>): Promise<number> {
  const { paths } = await tapeFiles(args[0] ?? "");
  const signatures = new Signatures();
  const traces: Trace[] = [];
  const skipped = await loadEach(paths, { skipBroken: flags.skipBroken, io }, async (path) => {
    const builder = new TraceBuilder(path, signatures, await anchorsBeside(path, io));
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

async function anchorsBeside(tape: string, io: Io): Promise<Anchor[]> {
  const sidecar = sidecarOf(tape);
  if (!(await isThere(sidecar))) return [];
  const rows = new CurrentRows(["crystallize_here"], (row) => row);
  await readSidecar(sidecar, watchedBytes(sidecar, io), (row) => rows.add(row));
  return rows.split().heard.flatMap((row) => anchorOf(row) ?? []);
}

/** Reads again what the sequences are made of. */
async function described(finder: CandidateFinder, io: Io): Promise<Candidate[]> {
  const picked = new Map<Trace, ReadonlyMap<number, TapeRecord>>();
  for (const [trace, places] of finder.places()) {
    picked.set(trace, await pickRecords(trace.path, watchedBytes(trace.path, io), places));
  }
  const candidates = finder.candidates((trace, place) => picked.get(trace)?.get(place));
  if (candidates !== undefined) return candidates;
  throw new AppError("unusable_input", { problem: "a tape has changed while it was read; try again" });
}
