import { join } from "node:path";
import { printable } from "../output/printable.ts";
import type { Call } from "../program/command.ts";
import type { TAPE_UNBUNDLE_FLAGS } from "./commands/compare.ts";
import { place } from "./files/bundle-place.ts";
import { BundleReader } from "./files/bundle-unpack.ts";
import { contentsJson, contentsOf, reportMissing } from "./text/bundle-report.ts";

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
