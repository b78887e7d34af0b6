import { existsSync, readFileSync } from "node:fs";
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
  return existsSync(new URL("..", import.meta.url)) ? "npx assay" : "assay";
}

/** Of the package this file is part of, as source and as built. */
export function packageVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
