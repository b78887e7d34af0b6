import { currentSidecar } from "../../formats/tapes/sidecar/merge.ts";
import { fileLines } from "../../formats/tapes/sidecar/row-lines.ts";
import { printSidecarHeader, SIDECAR_VERSION } from "../../formats/tapes/sidecar/sidecar.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { PastRows } from "../../protocol/tapes/api.ts";
import type { Host } from "../host.ts";
import type { RunIdentity } from "../runs/run-identity.ts";
import { judgedRows, pairByAuthor, pairLeftOver } from "./judged-rows.ts";
import { rowLinesInTurns } from "./tape-lines.ts";

/** The sidecar of a run, with the judgments that the caller may see. */
export async function pullSidecar(host: Host, caller: Caller, run: RunIdentity): Promise<string> {
  const stored = await host.store.readSidecar(caller, run.runId);
  const text = stored?.text ?? `${await newHeader(host, caller, run.runId)}\n`;
  const { current } = await judgedRows(host, caller, run);
  const lines = fileLines(text);
  const { rows } = await rowLinesInTurns(lines);
  const pairs = pairLeftOver(rows, current, pairByAuthor(rows, current, stored?.pushedBy ?? caller.principal));
  return currentSidecar(lines, rows, current, pairs);
}

async function newHeader({ store }: Host, caller: Caller, runId: string): Promise<string> {
  const tape = await store.readTape(caller, runId);
  return printSidecarHeader({
    schema_version: BigInt(SIDECAR_VERSION),
    tape_path: tape?.name ?? null,
    tape_content_hash: tape?.digest ?? null,
    harn_version: null,
  });
}

/** The former rows of the sidecar that the caller may see. */
export async function pastRows(host: Host, caller: Caller, run: RunIdentity): Promise<PastRows["rows"]> {
  const { all } = await judgedRows(host, caller, run);
  return all.flatMap(({ text, state, hidden }) => (state === "live" || hidden ? [] : [{ line: text, state }]));
}
