import type { BundleManifest } from "../../../formats/tapes/bundle.ts";
import { formatCount } from "../../output/amount.ts";
import type { Io } from "../../output/io.ts";
import { printable } from "../../output/printable.ts";
import { EXIT } from "../../program/exit-codes.ts";

/** `3 records, 2 bodies, with annotations`. */
export function contentsOf({ tape, annotations, bodies }: BundleManifest): string {
  const parts = [formatCount(Number(tape.records), "record"), formatCount(bodies.length, "body")];
  return [...parts, annotations === null ? "without annotations" : "with annotations"].join(", ");
}

/** The same for programs. */
export function contentsJson({ tape, annotations, bodies, missing }: BundleManifest) {
  return {
    digest: tape.digest,
    records: Number(tape.records),
    annotations: annotations !== null,
    bodies: bodies.length,
    missing,
  };
}

const MISSING_NAMED = 20;

/** Says which bodies a tape refers to and does not have. What that means for the exit code is for the caller's flag to say. */
export function reportMissing({ missing }: BundleManifest, required: boolean, io: Io): number {
  if (missing.length === 0) return EXIT.fine;
  const named = missing.slice(0, MISSING_NAMED).map((hash) => `  ${printable(hash)}`);
  const more = missing.length > MISSING_NAMED ? [`  and ${missing.length - MISSING_NAMED} more`] : [];
  const verb = missing.length === 1 ? "is" : "are";
  io.err(
    `${required ? "error" : "warning"}: ${formatCount(missing.length, "body")} that the tape refers to ${verb} missing:`,
  );
  for (const line of [...named, ...more]) io.err(line);
  return required ? EXIT.invalid : EXIT.fine;
}
