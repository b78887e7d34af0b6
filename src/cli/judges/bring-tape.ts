import { basename } from "node:path";
import { sidecarUnreadable } from "../../formats/tapes/sidecar/read-sidecar.ts";
import { fileLines, readRowLines } from "../../formats/tapes/sidecar/row-lines.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Client } from "../client/client.ts";
import { formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { bodyBeside } from "../tapes/files/send-bodies.ts";
import { sidecarText } from "../tapes/files/sync.ts";
import { sidecarOf } from "../tapes/files/tape-paths.ts";
import { tapeText } from "../tapes/text/tape-text.ts";

export interface TapeFiles {
  readonly tape: string;
  readonly sidecar: string;
}

/** The sidecars that are named belong to the tapes in the same order; a tape without one has it beside itself. */
export function tapeFiles(tapes: readonly string[], sidecars: readonly string[]): TapeFiles[] {
  if (sidecars.length > 0 && sidecars.length !== tapes.length) {
    const problem = "name a --sidecar for each --tape, in the same order, or none";
    throw new AppError("unusable_input", { problem });
  }
  return tapes.map((tape, i) => ({ tape, sidecar: sidecars[i] ?? sidecarOf(tape) }));
}

/** Makes a run of a tape with what people said about it, where it is not there yet. Gives the id of the run. */
export async function bringTape({ tapes }: Client, { tape, sidecar }: TapeFiles, io: Io): Promise<string> {
  const rows = await sidecarText(sidecar);
  if (rows === undefined) throw sidecarUnreadable(sidecar, "there is no such file");
  // Read here as well: who takes it does not know what the file is called.
  readRowLines(sidecar, fileLines(rows));
  const text = await tapeText(tape, io);
  const { runId, bodies } = await tapes.import({ tape: text, name: basename(tape) });
  let missing = 0;
  for (const hash of bodies.missing) {
    const body = await bodyBeside(tape, hash);
    const isThere = body !== undefined && (await stored(tapes, runId, hash, body));
    if (!isThere) missing++;
  }
  if (missing > 0) {
    io.err(`assay: ${printable(tape)}: ${formatCount(missing, "body")} cannot be taken; steps with them are left out.`);
  }
  await tapes.pushSidecar(runId, { sidecar: rows });
  return runId;
}

/** One with a secret in it stays where it is, and so does one that is too long. */
async function stored(tapes: Client["tapes"], runId: string, hash: string, body: Buffer): Promise<boolean> {
  try {
    await tapes.storeBody(runId, { hash, base64: body.toString("base64") });
    return true;
  } catch (error) {
    if (error instanceof AppError && REFUSALS.has(error.code)) return false;
    throw error;
  }
}

const REFUSALS: ReadonlySet<string> = new Set(["tape_body_secret", "tape_body_refused", "payload_too_large"]);
