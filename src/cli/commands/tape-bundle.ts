import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { nameProblem } from "../../formats/tape/bundle.ts";
import { AppError } from "../../protocol/errors.ts";
import { formatBytes, formatCount } from "../amount.ts";
import type { Call } from "../command.ts";
import type { TAPE_BUNDLE_FLAGS } from "../specs/tape-compare.ts";
import { gather } from "../tape/bundle-gather.ts";
import { writeBundle } from "../tape/bundle-pack.ts";
import { contentsJson, contentsOf, reportMissing } from "../tape/bundle-report.ts";
import { bodiesOf, sidecarOf } from "../tape/tape-paths.ts";
import { refuseExisting } from "../write-file.ts";

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
