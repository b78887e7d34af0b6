import { existsSync } from "node:fs";
import { constants, type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { Unreadable } from "../../formats/json/exact-json.ts";
import { TapeDigest } from "../../formats/tapes/digest.ts";
import { readTape } from "../../formats/tapes/read-tape.ts";
import { redactRow } from "../../formats/tapes/scrub.ts";
import { SeqSet } from "../../formats/tapes/seq-set.ts";
import { type DecidedRow, decideRow } from "../../formats/tapes/sidecar/decide-row.ts";
import {
  printExportedRow,
  printSidecarHeader,
  type Row,
  SIDECAR_VERSION,
} from "../../formats/tapes/sidecar/sidecar.ts";
import {
  type EarlierRow,
  newSidecar,
  type SidecarState,
  sidecarState,
} from "../../formats/tapes/sidecar/sidecar-state.ts";
import type { TapeRecord } from "../../formats/tapes/tape.ts";
import type { TapeFacts } from "../../formats/tapes/tape-facts.ts";
import { FileError } from "../../formats/text/file-error.ts";
import { AppError, unusableInput } from "../../protocol/errors.ts";
import { withFileLock } from "../files/file-lock.ts";
import { writeOutput } from "../files/write-file.ts";
import { formatCount } from "../output/amount.ts";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { processScrubber } from "../wiring/process-scrubber.ts";
import { explainRefusal, type RowFiles } from "./explain-refusal.ts";
import type { TAPE_ANNOTATE_FLAGS } from "./file-commands.ts";
import { type Progress, sidecarOf, watchedBytes } from "./files/tape-files.ts";
import { type AskedRow, rowRequest } from "./row-request.ts";

type AnnotateCall = Call<typeof TAPE_ANNOTATE_FLAGS>;

export async function tapeAnnotate(call: AnnotateCall): Promise<undefined> {
  const { args, flags, config, io } = call;
  const [tape = ""] = args;
  const sidecar = flags.annotations ?? sidecarOf(tape);
  const request = rowRequest(flags, config.author);
  const seen = await readEvents(tape, request, io);
  const files = { tape, sidecar, near: seen.near };
  const now = () => new Date().toISOString();
  const wanted = { id: request.supersedes, event: request.event === "last" ? undefined : request.event };
  const add = async (write: boolean) => {
    const state = existsSync(sidecar)
      ? await sidecarState(sidecar, watchedBytes(sidecar, io), seen.facts, wanted)
      : newSidecar();
    const decided = readable(() =>
      decideRow(request, aboutOf(request, state, seen.facts, files), state, seen.facts, now()),
    );
    // Printable, because objections quote texts of the file.
    const objections = decided.objections.map((one) => printable(explainRefusal(one, decided, files)));
    if (!flags.force) refuseObjections(decided, objections);
    const text = textFor(decided, state, tape, seen.facts);
    if (write && state.header === undefined) await writeOutput(sidecar, [text]);
    else if (write) await appendText(sidecar, text, state.end.bytes);
    return { state, decided, objections, text };
  };
  if (flags.dryRun) return report(call, sidecar, await add(false));
  // Checked before the lock makes the directory, so that a refused annotation does not leave one behind.
  if (!existsSync(dirname(sidecar))) await add(false);
  return report(call, sidecar, await withFileLock(sidecar, () => add(true)));
}

/** The facts of a tape, and the events next to the wanted one. */
async function readEvents(path: string, { event }: AskedRow, io: Progress) {
  const seqs = new SeqSet();
  const digest = await TapeDigest.start();
  const near = typeof event === "bigint" ? new NearEvents(event) : undefined;
  await readTape(path, watchedBytes(path, io), (record) => {
    seqs.add(record.seq);
    digest.add(record);
    near?.take(record);
  });
  return { facts: { seqs, digest: digest.hex() }, near: near?.text() };
}

/** The event that the row is about, or the row that it replaces. */
function aboutOf(request: AskedRow, state: SidecarState, { seqs }: TapeFacts, { tape, sidecar }: RowFiles) {
  const { event, supersedes } = request;
  if (supersedes !== undefined) return earlierRow(supersedes, state, sidecar);
  if (event !== "last") return event as bigint;
  if (seqs.last === null) throw unusableInput(`${tape} has no events`);
  return seqs.last;
}

function earlierRow(id: string, { earlier, elsewhere }: SidecarState, sidecar: string): EarlierRow {
  if (earlier !== undefined) return earlier;
  const [event] = elsewhere;
  if (event === undefined) throw unusableInput(`there is no annotation ${id} in ${sidecar}`);
  throw unusableInput(
    `${id} is about event ${event}, and only an annotation of the same event replaces it; leave out --event`,
  );
}

function readable(decide: () => DecidedRow): DecidedRow {
  try {
    return decide();
  } catch (error) {
    if (error instanceof Unreadable) throw unusableInput(`the annotation could not be read back: ${error.message}`);
    throw error;
  }
}

function refuseObjections(decided: DecidedRow, texts: readonly string[]): void {
  if (texts.length === 0) return;
  throw new AppError("row_refused", {
    problem: texts.join("; "),
    problems: decided.objections.map(({ code }) => code),
  });
}

/** The text to add to the file; a new file gets the header of its tape. */
function textFor({ line }: DecidedRow, { header, end }: SidecarState, tape: string, { digest }: TapeFacts): string {
  if (header !== undefined) return end.withLine(line);
  const created = {
    schema_version: BigInt(SIDECAR_VERSION),
    tape_path: tape,
    tape_content_hash: digest,
    harn_version: null,
  };
  return `${printSidecarHeader(created)}\n${line}\n`;
}

interface Added {
  readonly state: SidecarState;
  readonly decided: DecidedRow;
  /** As the user reads them. */
  readonly objections: readonly string[];
  readonly text: string;
}

async function report(
  call: AnnotateCall,
  sidecar: string,
  { state, decided, objections, text }: Added,
): Promise<undefined> {
  const { flags, json, io } = call;
  const created = state.header === undefined;
  const warnings = [
    ...objections,
    ...(state.problems === 0
      ? []
      : [`${sidecar} had ${formatCount(state.problems, "problem")} before; \`assay tape validate\` lists them`]),
    ...(await secretsIn(decided.row, call)),
  ];
  for (const warning of warnings) io.err(`warning: ${warning}`);
  if (json) {
    const [id, path, list] = [decided.row.id, sidecar, warnings].map((value) => JSON.stringify(value));
    const row = printExportedRow(decided.row);
    io.out(
      `{"id":${id},"sidecar":${path},"created":${created},"dryRun":${flags.dryRun},"row":${row},"warnings":${list}}`,
    );
  } else if (flags.dryRun) {
    await io.write(text.replace(/^[\r\n]+/, ""));
    io.err(
      `nothing was written; ${created ? `${sidecar} would be created with these lines` : `this line would be added to ${sidecar}`}`,
    );
  } else {
    // The id alone, so that a script can take it.
    io.out(decided.row.id);
  }
  return undefined;
}

const WRITTEN = ["evidence", "suggested_fix", "links", "metadata"] as const satisfies readonly (keyof Row)[];

async function secretsIn(row: Row, { config }: AnnotateCall): Promise<string[]> {
  const clean = redactRow(row, await processScrubber(config));
  const plain = printExportedRow(row);
  const holding = WRITTEN.filter((name) => printExportedRow({ ...row, [name]: clean[name] }) !== plain);
  if (holding.length === 0) return [];
  return [`${holding.join(" and ")} may contain a secret; the file keeps it, also where the file is shared`];
}

const EACH_SIDE = 2;

/** Collects the events of a tape that are closest to a wanted one, for the message that it does not exist. */
export class NearEvents {
  readonly #wanted: bigint;
  readonly #below = new Map<bigint, string>();
  readonly #above = new Map<bigint, string>();

  constructor(wanted: bigint) {
    this.#wanted = wanted;
  }

  take({ seq, kind }: TapeRecord): void {
    const side = seq < this.#wanted ? this.#below : this.#above;
    if (!side.has(seq)) side.set(seq, kind.kind);
    if (side.size <= EACH_SIDE) return;
    const [first = seq, ...rest] = [...side.keys()];
    side.delete(
      rest.reduce((far, one) => (distance(one, this.#wanted) > distance(far, this.#wanted) ? one : far), first),
    );
  }

  /** `1 (llm_call), 2 (file_write), 5 (clock_sleep)`, or undefined when the tape has no events. */
  text(): string | undefined {
    const near = [...this.#below, ...this.#above].sort(([a], [b]) => (a < b ? -1 : 1));
    return near.length === 0 ? undefined : near.map(([seq, kind]) => `${seq} (${kind})`).join(", ");
  }
}

function distance(a: bigint, b: bigint): bigint {
  return a < b ? b - a : a - b;
}

/**
 * Appends a text to a file in one write and syncs it. A part of a text that did not fit is removed again. A file whose length is not
 * `bytesBefore` is not changed.
 */
export async function appendText(path: string, text: string, bytesBefore: number): Promise<void> {
  try {
    const file = await open(path, constants.O_WRONLY | constants.O_APPEND);
    try {
      await append(file, path, Buffer.from(text), bytesBefore);
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof FileError) throw error;
    throw failed(path, (error as Error).message);
  }
}

async function append(file: FileHandle, path: string, bytes: Buffer, bytesBefore: number): Promise<void> {
  if ((await file.stat()).size !== bytesBefore) throw failed(path, "it has changed meanwhile; try again");
  const { bytesWritten } = await file.write(bytes);
  if (bytesWritten === bytes.length) return;
  if ((await file.stat()).size === bytesBefore + bytesWritten) await file.truncate(bytesBefore);
  throw failed(path, "there is no room for it");
}

function failed(path: string, reason: string): FileError {
  return new FileError("write_failed", path, `write ${path}: ${reason}`);
}
