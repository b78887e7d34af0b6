import { join } from "node:path";
import type { Call } from "../command.ts";
import { printable } from "../printable.ts";
import type { TAPE_UNBUNDLE_FLAGS } from "../specs/tape-compare.ts";
import { place } from "../tape/bundle-place.ts";
import { contentsJson, contentsOf, reportMissing } from "../tape/bundle-report.ts";
import { BundleReader } from "../tape/bundle-unpack.ts";

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
