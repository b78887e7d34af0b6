import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { type BundleManifest, nameProblem } from "../../formats/tapes/bundle.ts";
import { unusableInput } from "../../protocol/errors.ts";
import { refuseExisting } from "../files/write-file.ts";
import { formatBytes, formatCount } from "../output/amount.ts";
import type { Io } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { firstLines } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import type { TAPE_BUNDLE_FLAGS, TAPE_UNBUNDLE_FLAGS } from "./compare-commands.ts";
import { gather, writeBundle } from "./files/pack-bundle.ts";
import { bodiesOf, sidecarOf } from "./files/tape-files.ts";
import { BundleReader, place } from "./files/unpack-bundle.ts";

export async function tapeBundle({ args, flags, json, io }: Call<typeof TAPE_BUNDLE_FLAGS>): Promise<number> {
  const [tape = ""] = args;
  const output = flags.output ?? `${tape}.bundle.tar`;
  refuseExisting(output, flags.force);
  const problem = nameProblem(basename(tape));
  if (problem !== undefined) {
    throw unusableInput(`the tape cannot be bundled: its name ${problem}`);
  }
  const sidecar = flags.annotations ?? (existsSync(sidecarOf(tape)) ? sidecarOf(tape) : undefined);
  const gathered = await gather(tape, sidecar, io);
  const { manifest, leftOut } = gathered;
  if (flags.requireBodies && manifest.missing.length > 0) return reportMissing(manifest, true, io);
  await writeBundle(output, gathered);
  const { size } = await stat(output);
  if (leftOut.length > 0) {
    io.err(`${formatCount(leftOut.length, "file")} in ${bodiesOf(tape)} left out: no record refers to them`);
  }
  if (json) {
    io.out(JSON.stringify({ file: output, bytes: size, ...contentsJson(manifest), leftOut }));
  } else {
    io.out(`${output}: ${contentsOf(manifest)}, ${formatBytes(size)}`);
  }
  return reportMissing(manifest, false, io);
}

export async function tapeUnbundle({ args, flags, json, io }: Call<typeof TAPE_UNBUNDLE_FLAGS>): Promise<number> {
  const [file = ""] = args;
  const output = flags.output ?? ".";
  const bundle = new BundleReader(file);
  const manifest = await bundle.manifest(flags.maxBytes);
  if (flags.requireBodies && manifest.missing.length > 0) return reportMissing(manifest, true, io);
  await place(manifest, output, flags.force, (folder) => bundle.unpack(manifest, folder));
  const tape = join(output, manifest.tape.name);
  if (json) io.out(JSON.stringify({ tape, ...contentsJson(manifest) }));
  else io.out(`${printable(tape)}: ${contentsOf(manifest)}`);
  return reportMissing(manifest, false, io);
}

/** `3 records, 2 bodies, with annotations`. */
function contentsOf({ tape, annotations, bodies }: BundleManifest): string {
  const parts = [formatCount(Number(tape.records), "record"), formatCount(bodies.length, "body")];
  return [...parts, annotations === null ? "without annotations" : "with annotations"].join(", ");
}

function contentsJson({ tape, annotations, bodies, missing }: BundleManifest) {
  return {
    digest: tape.digest,
    records: Number(tape.records),
    annotations: annotations !== null,
    bodies: bodies.length,
    missing,
  };
}

const MISSING_NAMED = 20;

/** Lists the bodies that a tape refers to and that are missing. Returns the exit code: an error when they are required. */
function reportMissing({ missing }: BundleManifest, required: boolean, io: Io): number {
  if (missing.length === 0) return EXIT.fine;
  const verb = missing.length === 1 ? "is" : "are";
  io.err(
    `${required ? "error" : "warning"}: ${formatCount(missing.length, "body")} that the tape refers to ${verb} missing:`,
  );
  for (const line of firstLines(missing, MISSING_NAMED)) io.err(`  ${printable(line)}`);
  return required ? EXIT.invalid : EXIT.fine;
}
