import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * The built console. This file is built into `dist/cli` and bundled into `dist/bundle` (`bin/bundle.js`), and tests run it from
 * `src/cli`: all three are at the same depth, so paths relative to a file are only taken in files of this folder.
 */
export function consoleFolder(): string {
  return fileURLToPath(new URL("../../dist/console", import.meta.url));
}

/** The examples that come with the program. */
export function examplesFolder(): string {
  return fileURLToPath(new URL("../../examples", import.meta.url));
}

/** What to type to get this program: a checkout is not on the search path. */
export function programName(): string {
  return existsSync(new URL("../../src", import.meta.url)) ? "npx assay" : "assay";
}
