import { isUtf8 } from "node:buffer";
import { scrubLine } from "../../formats/tapes/scrub.ts";
import { type MergedFile, type RowChange as MergedRow, mergeFiles } from "../../formats/tapes/sidecar/merge.ts";
import { sidecarUnreadable } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { fileLines, fileText, readRowLines } from "../../formats/tapes/sidecar/row-lines.ts";
import { readTapeFacts } from "../../formats/tapes/tape-facts.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { PastRows, PushSidecarResponse, RowChange } from "../../protocol/tapes/api.ts";
import { MAX_SIDECAR_ROWS } from "../../protocol/words.ts";
import { type Client, connect } from "../client/client.ts";
import { withFileLock } from "../files/file-lock.ts";
import { writeOutput } from "../files/write-file.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable, shorten } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import { processScrubber } from "../wiring/process-scrubber.ts";
import type { PULL_FLAGS, PUSH_FLAGS } from "./commands.ts";
import { sidecarText } from "./files/read-review.ts";
import { sidecarOf, watchedBytes } from "./files/tape-files.ts";

export async function pushTape(call: Call<typeof PUSH_FLAGS>): Promise<undefined> {
  const { flags, json, io } = call;
  const { client, path, runId, scrub } = await syncedSidecar(call);
  const text = await sidecarText(path);
  if (text === undefined) throw sidecarUnreadable(path, "there is no such file");
  const lines = fileLines(text);
  // Checked here too, because an error of the server cannot name the file.
  const { rows } = readRowLines(path, lines);
  const clean = lines.map((line) => ({ ...line, text: scrub(line.text) }));
  const hidden = clean.filter((line, i) => line.text !== lines[i]?.text).length;
  const body = { sidecar: fileText(clean), dryRun: flags.dryRun, prune: flags.prune };
  const answer = await client(rows.length).tapes.pushSidecar(runId, body);
  const result = { ...answer, scrubbed: answer.scrubbed + hidden };
  if (json) io.out(JSON.stringify({ runId, file: path, ...result }));
  else showPush(io, runId, result);
  if (!json && flags.prune && result.onlyHere > 0) io.err("--prune retracts only rows that you pushed yourself.");
}

function showPush(io: Io, runId: string, answer: PushSidecarResponse): void {
  const { dryRun, onlyHere, scrubbed, withdrawn } = answer;
  for (const change of answer.changes) if (dryRun || change.what === "withdrawn") io.out(changeText(change));
  io.out(`${runId}: ${tallyText(answer)}`);
  if (scrubbed > 0) io.err(`Secrets in ${formatCount(scrubbed, "line")} were not sent.`);
  if (withdrawn > 0)
    io.err("Rows that were retracted on the server stay so. `assay tape pull` removes them from the file.");
  if (onlyHere > 0) {
    const count = formatCount(onlyHere, "annotation");
    io.err(`${count} only on the server: \`assay tape pull\` adds them to the file.`);
  }
}

const SIGNS = { recorded: "+", superseded: "~", withdrawn: "!", retracted: "-", only_here: "<" } as const;
const WORDS = {
  recorded: "new",
  superseded: "changed",
  withdrawn: "was retracted on the server",
  retracted: "to be retracted",
  only_here: "only on the server",
} as const;

function changeText({ line, id, what, annotationId = "" }: RowChange): string {
  const place = line === undefined ? annotationId : `line ${line}`;
  return `${SIGNS[what]} ${place}  ${id === "" ? "(no id)" : printable(id)}  ${WORDS[what]}`;
}

function tallyText({ recorded, superseded, unchanged, withdrawn, retracted, dryRun }: PushSidecarResponse): string {
  const would = dryRun ? "would be " : "";
  const rows = [
    `${formatCount(recorded, "row")} ${would}recorded`,
    `${superseded} ${would}changed`,
    `${unchanged} unchanged`,
    ...(withdrawn > 0 ? [`${withdrawn} retracted there before`] : []),
    ...(retracted > 0 ? [`${retracted} ${would}retracted`] : []),
  ];
  return rows.join(", ");
}

export async function pullTape(call: Call<typeof PULL_FLAGS>): Promise<undefined> {
  const { flags, json, io } = call;
  const synced = await syncedSidecar(call);
  const client = synced.client(MAX_SIDECAR_ROWS);
  const { path, runId } = synced;
  const there = await client.tapes.pullSidecar(runId);
  const past = await client.tapes.pastRows(runId);
  // Run under the file's lock: a row that another process adds after the reading would be lost.
  const merge = async () => {
    const here = await sidecarText(path);
    const merged = await mergedWith(synced, here, there, past);
    const changed = merged.text !== here;
    if (changed && !flags.dryRun) await writeOutput(path, [merged.text]);
    return { changes: merged.changes, changed };
  };
  const { changes, changed } = flags.dryRun ? await merge() : await withFileLock(path, merge);
  const counts = countsOf(changes);
  if (json)
    io.out(JSON.stringify({ runId, file: path, ...counts, written: changed && !flags.dryRun, dryRun: flags.dryRun }));
  else showPull(io, path, changes, { changed, dryRun: flags.dryRun });
}

async function mergedWith(
  synced: SyncedSidecar,
  here: string | undefined,
  there: string,
  past: PastRows,
): Promise<MergedFile> {
  const { path, scrub } = synced;
  if (here !== undefined) {
    return mergeFiles({ path, here, there, past: new Set(past.rows.map(({ line }) => line)), scrub });
  }
  const { rows } = readRowLines("the server's sidecar", fileLines(there));
  return { text: there, changes: rows.map(({ text }) => ({ what: "added", line: text })) };
}

function countsOf(changes: readonly MergedRow[]) {
  const count = (what: MergedRow["what"]) => changes.filter((one) => one.what === what).length;
  return {
    added: count("added"),
    changed: count("changed"),
    removed: count("removed"),
    onlyHere: count("kept"),
    editedHere: count("edited"),
  };
}

function showPull(
  io: Io,
  path: string,
  changes: readonly MergedRow[],
  { changed, dryRun }: { changed: boolean; dryRun: boolean },
): void {
  const { added, changed: replaced, removed, onlyHere, editedHere } = countsOf(changes);
  if (dryRun) for (const change of changes) for (const line of diffLines(change)) io.out(line);
  const would = dryRun ? "would be " : "";
  const tally = `${formatCount(added, "row")} ${would}added, ${replaced} ${would}changed, ${removed} ${would}removed`;
  io.out(`${path}: ${changed ? tally : "nothing to change"}`);
  if (onlyHere > 0) io.err(`${formatCount(onlyHere, "row")} of the file not pushed yet: kept.`);
  if (editedHere > 0) io.err(`${formatCount(editedHere, "row")} changed in the file and not pushed yet: kept.`);
}

const SHOWN_CHARACTERS = 160;

/** The lines of a diff. Rows that are only in the file do not change and have none. */
function diffLines({ what, line, before }: MergedRow): string[] {
  const shown = (text: string) => shorten(printable(text), SHOWN_CHARACTERS);
  if (what === "added") return [`+ ${shown(line)}`];
  if (what === "removed") return [`- ${shown(line)}`];
  return what === "changed" ? [`- ${shown(before ?? "")}`, `+ ${shown(line)}`] : [];
}

const ROWS_AT_A_TIME = 2500;

/** A local sidecar and its run on the server. */
interface SyncedSidecar {
  /** A client whose time limit grows with the number of rows. */
  client(rows?: number): Client;
  readonly path: string;
  readonly runId: string;
  /** Removes secrets from a line before it is sent. */
  scrub(line: string): string;
}

async function syncedSidecar(
  call: Pick<Call<typeof PULL_FLAGS>, "args" | "flags" | "config" | "io">,
): Promise<SyncedSidecar> {
  const { args, flags, config } = call;
  const tape = args[0] ?? "";
  const runId = flags.run ?? (await runOf(connect(config), tape, call));
  const { scrubText } = await processScrubber(config);
  return {
    client: (rows = 0) => connect({ ...config, timeoutMs: config.timeoutMs * (1 + Math.floor(rows / ROWS_AT_A_TIME)) }),
    path: flags.annotations ?? sidecarOf(tape),
    runId,
    scrub: (line) => scrubLine(line, scrubText),
  };
}

async function runOf(client: Client, tape: string, { io }: Pick<Call, "io">): Promise<string> {
  const { digest } = await readTapeFacts(tape, watchedBytes(tape, io), { isUtf8 });
  const { tapes } = await client.tapes.list({ digest, limit: 1 });
  if (tapes[0] !== undefined) return tapes[0].runId;
  throw unusableInput(
    `the server has no run of ${tape}; make one with \`assay tape import ${tape}\`, or name the run with --run`,
  );
}
