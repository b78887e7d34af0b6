import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { main } from "../cli/main.ts";
import type { Io } from "../cli/output/io.ts";
import { recordedIo } from "./recorded-io.ts";
import { tempDir } from "./temp-dir.ts";

/** A directory with these files. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = tempDir();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

export interface TapeResult {
  readonly exit: number;
  readonly out: string;
  readonly err: readonly string[];
}

/** `assay tape …` in this process. */
export async function tape(argv: readonly string[], overrides: Partial<Io> = {}): Promise<TapeResult> {
  const io = recordedIo(overrides);
  const exit = await main(["tape", ...argv], { io });
  return { exit, out: io.outText(), err: io.errLines };
}
