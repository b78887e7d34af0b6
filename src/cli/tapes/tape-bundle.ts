import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { nameProblem } from "../../formats/tapes/bundle.ts";
import { AppError } from "../../protocol/errors.ts";
import { refuseExisting } from "../files/write-file.ts";
import { formatBytes, formatCount } from "../output/amount.ts";
import type { Call } from "../program/command.ts";
import type { TAPE_BUNDLE_FLAGS } from "./commands/compare.ts";
import { gather } from "./files/bundle-gather.ts";
import { writeBundle } from "./files/bundle-pack.ts";
import { bodiesOf, sidecarOf } from "./files/tape-paths.ts";
import { contentsJson, contentsOf, reportMissing } from "./text/bundle-report.ts";

export async function tapeBundle({ args, flags, json, io }: Call<typeof TAPE_BUNDLE_FLAGS>): Promise<number> {
  const [tape = ""] = args;
  const output = flags.output ?? `${tape}.bundle.tar`;
  refuseExisting(output, flags.force);
  const problem = nameProblem(basename(tape));
  if (problem !== undefined) {
    throw new AppError("unusable_input", { problem: `the tape cannot be bundled: its name ${problem}` });
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
