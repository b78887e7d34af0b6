import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { tapeUnreadable } from "../../../formats/tapes/read-tape.ts";
import { isBodyHash } from "../../../formats/tapes/tape.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { Client } from "../../client/client.ts";
import { bodiesOf } from "./tape-paths.ts";

/** What became of the bodies that the server asked for, by their names. */
export interface SentBodies {
  readonly stored: string[];
  /** Neither there nor here. */
  readonly missing: string[];
  /** They hold what looks like a secret, and stay here. */
  readonly withheld: string[];
  /** The server would not have them for another reason, which comes with each. */
  readonly refused: { readonly hash: string; readonly problem: string }[];
}

/** Sends the bodies that stand beside a tape, one by one. */
export async function sendBodies(
  client: Client,
  runId: string,
  tape: string,
  wanted: readonly string[],
  progress: (text: string) => void,
): Promise<SentBodies> {
  const sent: SentBodies = { stored: [], missing: [], withheld: [], refused: [] };
  for (const [i, hash] of wanted.entries()) {
    const body = await bodyBeside(tape, hash);
    if (body === undefined) {
      sent.missing.push(hash);
      continue;
    }
    progress(`body ${i + 1} of ${wanted.length}`);
    try {
      await client.tapes.storeBody(runId, { hash, base64: body.toString("base64") });
      sent.stored.push(hash);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === "tape_body_secret") sent.withheld.push(hash);
      else if (REFUSALS.has(error.code)) sent.refused.push({ hash, problem: error.message });
      else throw error;
    }
  }
  return sent;
}

const REFUSALS: ReadonlySet<string> = new Set(["tape_body_refused", "payload_too_large"]);

/** A tape may name anything; only what could be a body is looked up. */
export async function bodyBeside(tape: string, hash: string): Promise<Buffer | undefined> {
  if (!isBodyHash(hash)) return undefined;
  const path = join(bodiesOf(tape), hash);
  try {
    return await readFile(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw tapeUnreadable(path, message);
  }
}
