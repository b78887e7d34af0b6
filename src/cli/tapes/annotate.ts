import { existsSync } from "node:fs";
import { constants, type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import { TapeDigest } from "../../formats/tapes/digest.ts";
import { readTape } from "../../formats/tapes/read-tape.ts";
import { redactRow } from "../../formats/tapes/scrub.ts";
import { SeqSet } from "../../formats/tapes/seq-set.ts";
import {
  printExportedRow,
  printSidecarHeader,
  type Row,
  SIDECAR_VERSION,
} from "../../formats/tapes/sidecar/sidecar.ts";
import type { TapeRecord } from "../../formats/tapes/tape.ts";
import type { TapeFacts } from "../../formats/tapes/tape-facts.ts";
import { FileError } from "../../formats/text/file-error.ts";
import { AppError } from "../../protocol/errors.ts";
import { withFileLock } from "../files/file-lock.ts";
import { writeOutput } from "../files/write-file.ts";
import { formatCount } from "../output/amount.ts";
import type { Call } from "../program/command.ts";
import { processScrubber } from "../wiring/process-scrubber.ts";
import { type DecidedRow, decideRow } from "./decide-row.ts";
import type { TAPE_ANNOTATE_FLAGS } from "./file-commands.ts";
import { type SidecarState, sidecarState } from "./files/sidecar-state.ts";
import { type Progress, sidecarOf, watchedBytes } from "./files/tape-files.ts";
import { type RowRequest, rowRequest } from "./row-request.ts";

type AnnotateCall = Call<typeof TAPE_ANNOTATE_FLAGS>;

export async function tapeAnnotate(call: AnnotateCall): Promise<undefined> {
  const { args, flags, config, io } = call;
  const [tape = ""] = args;
  const sidecar = flags.annotations ?? sidecarOf(tape);
  const request = rowRequest(flags, config.author);
  const seen = await readEvents(tape, request, io);
  const files = { tape, sidecar, near: seen.near };
  const wanted = { id: request.supersedes, event: request.event === "last" ? undefined : request.event };
  const add = async (write: boolean) => {
    const state = await sidecarState(sidecar, seen.facts, wanted, io);
    const decided = decideRow(request, state, seen.facts, files, new Date().toISOString());
    refuseObjections(decided, flags.force);
    const text = textFor(decided, state, tape, seen.facts);
    if (write && state.header === undefined) await writeOutput(sidecar, [text]);
    else if (write) await appendText(sidecar, text, state.end.bytes);
    return { state, decided, text };
  };
  if (flags.dryRun) return report(call, sidecar, await add(false));
  // Checked before the lock makes the directory, so that a refused annotation does not leave one behind.
  if (!existsSync(dirname(sidecar))) await add(false);
  return report(call, sidecar, await withFileLock(sidecar, () => add(true)));
}

/** The facts of a tape, and the events next to the wanted one. */
async function readEvents(path: string, { event }: RowRequest, io: Progress) {
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

function refuseObjections({ objections }: DecidedRow, force: boolean): void {
  if (force || objections.length === 0) return;
  const problem = objections.map(({ text }) => text).join("; ");
  throw new AppError("row_refused", { problem, problems: objections.map(({ code }) => code) });
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
  readonly text: string;
}

async function report(call: AnnotateCall, sidecar: string, { state, decided, text }: Added): Promise<undefined> {
  const { flags, json, io } = call;
  const created = state.header === undefined;
  const warnings = [
    ...decided.objections.map((one) => one.text),
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
