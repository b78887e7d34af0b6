import { existsSync } from "node:fs";
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
import type { TapeFacts } from "../../formats/tapes/tape-facts.ts";
import { AppError } from "../../protocol/errors.ts";
import { withFileLock } from "../files/file-lock.ts";
import { writeOutput } from "../files/write-file.ts";
import { formatCount } from "../output/amount.ts";
import type { Call } from "../program/command.ts";
import { processScrubber } from "../wiring/process-scrubber.ts";
import type { TAPE_ANNOTATE_FLAGS } from "./commands/write.ts";
import { type DecidedRow, decideRow } from "./files/decide-row.ts";
import { type Progress, watchedBytes } from "./files/file-bytes.ts";
import { NearEvents } from "./files/near-events.ts";
import { type RowRequest, rowRequest } from "./files/row-request.ts";
import { type SidecarState, sidecarState } from "./files/sidecar-state.ts";
import { sidecarOf } from "./files/tape-paths.ts";
import { appendText } from "./text/append-text.ts";

type AnnotateCall = Call<typeof TAPE_ANNOTATE_FLAGS>;

export async function tapeAnnotate(call: AnnotateCall): Promise<undefined> {
  const { args, flags, config, io } = call;
  const [tape = ""] = args;
  const sidecar = flags.annotations ?? sidecarOf(tape);
  const request = rowRequest(flags, config.author);
  const seen = await readEvents(tape, request, io);
  const files = { tape, sidecar, near: seen.near };
  const add = async (write: boolean) => {
    const state = await sidecarState(sidecar, seen.facts, wantedOf(request), io);
    const decided = decideRow(request, state, seen.facts, files, new Date().toISOString());
    refuseObjections(decided, flags.force);
    const text = textFor(decided, state, tape, seen.facts);
    if (write && state.header === undefined) await writeOutput(sidecar, [text]);
    else if (write) await appendText(sidecar, text, state.end.bytes);
    return { state, decided, text };
  };
  if (flags.dryRun) return report(call, sidecar, await add(false));
  // What is refused leaves no directory behind either.
  if (!existsSync(dirname(sidecar))) await add(false);
  return report(call, sidecar, await withFileLock(sidecar, () => add(true)));
}

interface SeenTape {
  readonly facts: TapeFacts;
  readonly near: string | undefined;
}

async function readEvents(path: string, { event }: RowRequest, io: Progress): Promise<SeenTape> {
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

function wantedOf({ supersedes, event }: RowRequest) {
  return { id: supersedes, event: typeof event === "bigint" ? event : undefined };
}

function refuseObjections({ objections }: DecidedRow, force: boolean): void {
  if (force || objections.length === 0) return;
  const problem = objections.map(({ text }) => text).join("; ");
  throw new AppError("row_refused", { problem, problems: objections.map(({ code }) => code) });
}

/** A file that is made now has the header that belongs to the tape. */
function textFor({ line }: DecidedRow, { header, end }: SidecarState, tape: string, { digest }: TapeFacts): string {
  if (header !== undefined) return end.withLine(line);
  const made = {
    schema_version: BigInt(SIDECAR_VERSION),
    tape_path: tape,
    tape_content_hash: digest,
    harn_version: null,
  };
  return `${printSidecarHeader(made)}\n${line}\n`;
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
    const [id, path, said] = [decided.row.id, sidecar, warnings].map((value) => JSON.stringify(value));
    const row = printExportedRow(decided.row);
    io.out(
      `{"id":${id},"sidecar":${path},"created":${created},"dryRun":${flags.dryRun},"row":${row},"warnings":${said}}`,
    );
  } else if (flags.dryRun) {
    await io.write(text.replace(/^[\r\n]+/, ""));
    io.err(
      `nothing was written; ${created ? `${sidecar} would be made with these lines` : `this line would be added to ${sidecar}`}`,
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
  return [
    `there seems to be a secret in ${holding.join(" and ")}; the file keeps it as it is, also where it is shared`,
  ];
}
