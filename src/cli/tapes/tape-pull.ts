import { type MergedFile, mergeFiles, type RowChange } from "../../formats/tapes/sidecar/merge.ts";
import { fileLines, readRowLines } from "../../formats/tapes/sidecar/row-lines.ts";
import { MAX_SIDECAR_ROWS, type PastRows } from "../../protocol/tapes/sidecar-api.ts";
import { withFileLock } from "../files/file-lock.ts";
import { writeOutput } from "../files/write-file.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable, shorten } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import type { PULL_FLAGS } from "./commands/sync.ts";
import { type SyncedSidecar, sidecarText, syncedSidecar } from "./files/sync.ts";

export async function pullTape(call: Call<typeof PULL_FLAGS>): Promise<undefined> {
  const { flags, json, io } = call;
  const synced = await syncedSidecar(call);
  const client = synced.client(MAX_SIDECAR_ROWS);
  const { path, runId } = synced;
  const there = await client.tapes.pullSidecar(runId);
  const past = await client.tapes.pastRows(runId);
  // Nobody may write a row between the reading and the writing.
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
  else tell(io, path, changes, { changed, dryRun: flags.dryRun });
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

function countsOf(changes: readonly RowChange[]) {
  const count = (what: RowChange["what"]) => changes.filter((one) => one.what === what).length;
  return {
    added: count("added"),
    changed: count("changed"),
    removed: count("removed"),
    onlyHere: count("kept"),
    editedHere: count("edited"),
  };
}

function tell(
  io: Io,
  path: string,
  changes: readonly RowChange[],
  { changed, dryRun }: { changed: boolean; dryRun: boolean },
): void {
  const { added, changed: replaced, removed, onlyHere, editedHere } = countsOf(changes);
  if (dryRun) for (const change of changes) for (const line of diffLines(change)) io.out(line);
  const would = dryRun ? "would be " : "";
  const tally = `${formatCount(added, "row")} ${would}added, ${replaced} ${would}changed, ${removed} ${would}removed`;
  io.out(`${path}: ${changed ? tally : "nothing to change"}`);
  if (onlyHere > 0) io.err(`${formatCount(onlyHere, "row")} of the file not pushed yet: kept.`);
  if (editedHere > 0)
    io.err(`${formatCount(editedHere, "row")} changed here and not pushed yet: kept as the file has it.`);
}

const SHOWN_CHARACTERS = 160;

/** What is only here does not change, so it is not part of the difference. */
function diffLines({ what, line, before }: RowChange): string[] {
  const shown = (text: string) => shorten(printable(text), SHOWN_CHARACTERS);
  if (what === "added") return [`+ ${shown(line)}`];
  if (what === "removed") return [`- ${shown(line)}`];
  return what === "changed" ? [`- ${shown(before ?? "")}`, `+ ${shown(line)}`] : [];
}
