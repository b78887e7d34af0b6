import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf } from "./error-code.ts";

/**
 * Makes a directory and its parents, for their owner alone. The option `recursive` is not used: it loops for ever below an
 * existing directory in which nothing can be made, such as /proc.
 */
export async function makeDirectory(path: string): Promise<void> {
  try {
    await make(path);
  } catch (error) {
    const above = dirname(path);
    if (codeOf(error) !== "ENOENT" || above === path) throw error;
    await makeDirectory(above);
    await make(path);
  }
}

async function make(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}
