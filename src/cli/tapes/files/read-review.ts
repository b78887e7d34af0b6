import { randomInt } from "node:crypto";
import { TapeDigest } from "../../../formats/tapes/digest.ts";
import { readTape } from "../../../formats/tapes/read-tape.ts";
import { SeqSet } from "../../../formats/tapes/seq-set.ts";
import { type ShownEvent, shownEvent } from "../../../formats/tapes/show.ts";
import { SidecarReader, sidecarUnreadable } from "../../../formats/tapes/sidecar/read-sidecar.ts";
import type { Row } from "../../../formats/tapes/sidecar/sidecar.ts";
import { Validation } from "../../../formats/tapes/validate/validate.ts";
import { loadLines } from "../../../formats/text/load-lines.ts";
import type { Io } from "../../output/io.ts";
import { type Progress, watchedBytes } from "./file-bytes.ts";

/** A tape and what was said about it. */
export interface Review {
  /** All of the tape, in its order. */
  readonly events: readonly ShownEvent[];
  readonly annotations: number;
  /** How many there are with the annotations. */
  readonly problems: number;
}

export interface ReviewFiles {
  readonly tape: string;
  readonly sidecar: string;
}

/** What is said when the annotations have problems. */
export function reportProblems(problems: number, io: Pick<Io, "err">): void {
  if (problems === 0) return;
  io.err(
    `[assay] annotations validation failed with ${problems} problem(s); see \`assay tape validate\` for the structured report.`,
  );
}

const SEEDS = 2 ** 32;

/** Reads the tape, then its sidecar, whose rows are judged and handed on. Throws `FileError` for the first that does not load. */
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
