import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { TapeDigest } from "../../../formats/tapes/digest.ts";
import { readTape } from "../../../formats/tapes/read-tape.ts";
import { SeqSet } from "../../../formats/tapes/seq-set.ts";
import { type ShownEvent, shownEvent } from "../../../formats/tapes/show.ts";
import { SidecarReader, sidecarUnreadable } from "../../../formats/tapes/sidecar/read-sidecar.ts";
import type { Row } from "../../../formats/tapes/sidecar/sidecar.ts";
import { Validation } from "../../../formats/tapes/validate/validate.ts";
import { loadLines } from "../../../formats/text/lines.ts";
import type { Io } from "../../output/io.ts";
import { fileBytes, type Progress, watchedBytes } from "./tape-files.ts";

/** The events of a tape, and the numbers of annotations and problems. */
export interface Review {
  /** All of the tape, in its order. */
  readonly events: readonly ShownEvent[];
  readonly annotations: number;
  /** The number of problems of the annotations. */
  readonly problems: number;
}

interface ReviewFiles {
  readonly tape: string;
  readonly sidecar: string;
}

export function reportProblems(problems: number, io: Pick<Io, "err">): void {
  if (problems === 0) return;
  io.err(
    `[assay] annotations validation failed with ${problems} problem(s); see \`assay tape validate\` for the structured report.`,
  );
}

const SEEDS = 2 ** 32;

/** Reads a tape, then its sidecar, whose rows are validated and passed on. Throws `FileError` for the first file that does not load. */
export async function readReview(files: ReviewFiles, io: Progress, onRow: (row: Row) => void): Promise<Review> {
  const events: ShownEvent[] = [];
  const seqs = new SeqSet();
  const digest = await TapeDigest.start();
  await readTape(files.tape, watchedBytes(files.tape, io), (record) => {
    events.push(shownEvent(record));
    seqs.add(record.seq);
    digest.add(record);
  });
  const validation = await Validation.start({ seqs, digest: digest.hex() }, randomInt(SEEDS));
  const reader = new SidecarReader(files.sidecar, (row, line) => {
    validation.row(row, line);
    onRow(row);
  });
  const unreadable = (reason: string) => sidecarUnreadable(files.sidecar, reason);
  await loadLines(watchedBytes(files.sidecar, io), reader, unreadable);
  const { checked, findings } = validation.end(reader.header, reader.headerLine);
  return { events, annotations: checked, problems: findings.length };
}

/** The text of a sidecar; undefined when there is no such file. Throws `FileError` when it cannot be read. */
export async function sidecarText(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of fileBytes(path)) pieces.push(piece);
  } catch (error) {
    throw sidecarUnreadable(path, error instanceof Error ? error.message : String(error));
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(pieces));
  } catch {
    throw sidecarUnreadable(path, "stream did not contain valid UTF-8");
  }
}
