import { type CheckedPack, checkPack } from "../../agents/packs/check-pack.ts";
import type { PackFiles } from "../../agents/packs/pack-files.ts";
import { packSuites } from "../../evals/suite/pack-suites.ts";
import { scrubber } from "../../formats/secrets/scrub.ts";

/** As far as a pack can be judged without the host that it is for. */
export function checkPackSource(files: PackFiles): CheckedPack {
  const shapes = scrubber();
  return checkPack(files, packSuites(shapes), shapes);
}
