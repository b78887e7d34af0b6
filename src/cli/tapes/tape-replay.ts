import { statSync } from "node:fs";
import { loadProcessTape } from "../../formats/tapes/process-tape.ts";
import { blockLines, type ShownRow, shownRow } from "../../formats/tapes/show.ts";
import { readSidecar } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { FileError } from "../../formats/text/file-error.ts";
import { addTo } from "../../formats/text/groups.ts";
import { AppError } from "../../protocol/errors.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { TAPE_REPLAY_FLAGS } from "./commands/compare.ts";
import { fileBytes } from "./files/file-bytes.ts";
import { type Review, readReview, reportProblems } from "./files/read-review.ts";
import { runRecorder } from "./files/recorder.ts";
import { makeDraft, type TapeDraft } from "./files/recorder-draft.ts";

type ReplayCall = Call<typeof TAPE_REPLAY_FLAGS>;

export async function tapeReplay(call: ReplayCall): Promise<number> {
  const { args, flags, json, io } = call;
  const [program = "", ...rest] = args;
  const { annotations, processTape, emitTape } = flags;
  if (annotations === undefined) throw new AppError("unusable_input", { problem: "--annotations SIDECAR is missing" });
  // All of it, before anything runs; it is read again beside the tape, since it may be too long to be held.
  await readSidecar(annotations, fileBytes(annotations), () => {});
  if (processTape !== undefined) await loadProcessTape(processTape, fileBytes(processTape));

  const draft = await makeDraft(emitTape);
  try {
    const ended = await runRecorder({ program, args: rest, tape: draft.tape, processTape, outToErr: json });
    const review = await reviewOf(draft, annotations, call);
    if (review !== undefined) await draft.keep();
    const exitCode = judged(ended, review, call);
    if (json) io.out(JSON.stringify(resultOf(ended, review, call)));
    return exitCode;
  } finally {
    await draft.discard();
  }
}

/** Nothing when the program left no tape that loads, which is said and is no failure by itself. */
async function reviewOf(draft: TapeDraft, sidecar: string, { flags, io }: ReplayCall): Promise<Review | undefined> {
  const rows = new Map<bigint, ShownRow[]>();
  // A pipe that nobody fills, or a device that never ends, would hold us for good.
  if (!statSync(draft.tape, { throwIfNoEntry: false })?.isFile()) {
    io.err("warning: the program wrote no tape to $ASSAY_TAPE");
    return undefined;
  }
  try {
    const review = await readReview({ tape: draft.tape, sidecar }, io, (row) => {
      addTo(rows, row.event_id, shownRow(row));
    });
    // The program owns standard output.
    for (const line of blockLines({ path: sidecar, ...review, rows }))
      io.err(io.errIsTerminal ? printable(line) : line);
    return review;
  } catch (error) {
    if (!(error instanceof FileError) || error.path !== draft.tape) throw error;
    const said = error.message.replaceAll(draft.tape, flags.emitTape ?? "$ASSAY_TAPE");
    io.err(`warning: ${said}`);
    return undefined;
  }
}

function judged(ended: number, review: Review | undefined, { flags, io }: ReplayCall): number {
  const problems = review?.problems ?? 0;
  reportProblems(problems, io);
  const lacksEvents = flags.requireEvents && (review === undefined || review.events.length === 0);
  if (lacksEvents) io.err("[assay] the program recorded no events, which --require-events asks for");
  return problems > 0 || lacksEvents ? Math.max(EXIT.invalid, ended) : ended;
}

function resultOf(ended: number, review: Review | undefined, { flags }: ReplayCall) {
  return {
    exitCode: ended,
    tape: review === undefined ? null : (flags.emitTape ?? null),
    events: review?.events.length ?? null,
    annotations: review?.annotations ?? null,
    problems: review?.problems ?? null,
  };
}
