import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { loadProcessTape } from "../../formats/tapes/process-tape.ts";
import { blockLines, type ShownRow, shownRow } from "../../formats/tapes/show.ts";
import { readSidecar } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { addTo } from "../../formats/text/collections.ts";
import { FileError } from "../../formats/text/file-error.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { writing } from "../files/write-file.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { EXIT, killedBy, onSignals } from "../program/exit-codes.ts";
import { type Environment, ownEnvironment, withoutSecrets } from "../settings/config.ts";
import type { TAPE_REPLAY_FLAGS } from "./compare-commands.ts";
import { moveAll } from "./files/place-output.ts";
import { type Review, readReview, reportProblems } from "./files/read-review.ts";
import { bodiesOf, fileBytes } from "./files/tape-files.ts";

type ReplayCall = Call<typeof TAPE_REPLAY_FLAGS>;

export async function tapeReplay(call: ReplayCall): Promise<number> {
  const { args, flags, json, io } = call;
  const [program = "", ...rest] = args;
  const { annotations, processTape, emitTape } = flags;
  if (annotations === undefined) throw unusableInput("--annotations SIDECAR is missing");
  // Read before the program starts to find errors, and again with the tape, because it may be too long for memory.
  await readSidecar(annotations, fileBytes(annotations), () => {});
  if (processTape !== undefined) await loadProcessTape(processTape, fileBytes(processTape));

  const draft = await makeDraft(emitTape);
  try {
    const ended = await runRecorder({ program, args: rest, tape: draft.tape, processTape, outToErr: json });
    const review = await reviewOf(draft, annotations, call);
    if (review !== undefined) await draft.keep();
    const exitCode = exitCodeFor(ended, review, call);
    if (json) io.out(JSON.stringify(resultOf(ended, review, call)));
    return exitCode;
  } finally {
    await draft.discard();
  }
}

/** The review of the new tape. Undefined, with a warning, when the program left no tape that loads. */
async function reviewOf(draft: TapeDraft, sidecar: string, { flags, io }: ReplayCall): Promise<Review | undefined> {
  const rows = new Map<bigint, ShownRow[]>();
  // A pipe without a writer, or an endless device, would block forever.
  if (!statSync(draft.tape, { throwIfNoEntry: false })?.isFile()) {
    io.err("warning: the program wrote no tape to $ASSAY_TAPE");
    return undefined;
  }
  try {
    const review = await readReview({ tape: draft.tape, sidecar }, io, (row) => {
      addTo(rows, row.event_id, shownRow(row));
    });
    // Standard output is for the program.
    for (const line of blockLines({ path: sidecar, ...review, rows }))
      io.err(io.errIsTerminal ? printable(line) : line);
    return review;
  } catch (error) {
    if (!(error instanceof FileError) || error.path !== draft.tape) throw error;
    io.err(`warning: ${error.message.replaceAll(draft.tape, flags.emitTape ?? "$ASSAY_TAPE")}`);
    return undefined;
  }
}

function exitCodeFor(ended: number, review: Review | undefined, { flags, io }: ReplayCall): number {
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

/** A new path for the recorder's tape: an earlier tape is not taken for its own, and not lost when it fails. */
interface TapeDraft {
  readonly tape: string;
  /** Moves the tape and its bodies to the wanted path and replaces the files there. */
  keep(): Promise<void>;
  discard(): Promise<void>;
}

/** A draft next to the wanted file, so that it can be renamed; a temporary one when no tape is wanted. */
async function makeDraft(wanted: string | undefined): Promise<TapeDraft> {
  const folder = await draftFolder(wanted);
  const tape = join(folder, basename(wanted ?? "run.tape"));
  return {
    tape,
    keep: async () => {
      if (wanted === undefined) return;
      await writing(wanted, async () => {
        // Bodies of the replaced tape are removed, also when the new one has none.
        const bodies = { ...(existsSync(bodiesOf(tape)) ? { from: bodiesOf(tape) } : {}), to: bodiesOf(wanted) };
        // The tape is moved last, so that its bodies are there when it appears.
        moveAll([bodies, { from: tape, to: wanted }], folder);
      });
    },
    discard: () => rm(folder, { recursive: true, force: true }),
  };
}

function draftFolder(wanted: string | undefined): Promise<string> {
  if (wanted === undefined) return mkdtemp(join(tmpdir(), "assay-tape-"));
  return writing(wanted, async () => {
    await mkdir(dirname(wanted), { recursive: true });
    return mkdtemp(`${wanted}.`);
  });
}

export interface Recorder {
  readonly program: string;
  readonly args: readonly string[];
  /** The path of the tape that it writes. */
  readonly tape: string;
  readonly processTape: string | undefined;
  /** Its standard output goes to standard error, because standard output is for the result. */
  readonly outToErr: boolean;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program",
  EACCES: "it may not be executed",
};

/** Runs it with the streams of this process. Resolves with its exit code; throws `FileError` when it cannot be started. */
export async function runRecorder({ program, args, tape, processTape, outToErr }: Recorder): Promise<number> {
  const env = recorderEnvironment(ownEnvironment(), tape, processTape);
  const child = spawn(program, args, { env, stdio: ["inherit", outToErr ? 2 : "inherit", "inherit"] });
  // This process continues until the program has ended, to read its tape.
  const stopPassing = onSignals((signal) => {
    // A terminal sends SIGINT to the program too, and a second one may mean something else to it.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  });
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return code ?? (signal === null ? 128 : killedBy(signal));
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new FileError("recorder_not_started", program, `start ${program}: ${REASONS[code] ?? message}`);
  } finally {
    stopPassing();
  }
}

/** The environment of the program. It is foreign code, so it gets no secrets of this one. */
export function recorderEnvironment(own: Environment, tape: string, processTape: string | undefined): Environment {
  const { ASSAY_PROCESS_TAPE: _, ...environment } = withoutSecrets(own);
  environment["ASSAY_TAPE"] = resolve(tape);
  if (processTape !== undefined) environment["ASSAY_PROCESS_TAPE"] = resolve(processTape);
  return environment;
}
