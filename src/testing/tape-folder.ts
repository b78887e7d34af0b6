import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { main } from "../cli/main.ts";
import type { Io } from "../cli/output/io.ts";
import type { Row } from "../formats/tapes/sidecar/sidecar.ts";
import { recordedIo } from "./recorded-io.ts";
import { aRow, aSidecarHeader, sidecarText } from "./tape-files.ts";
import { tempDir } from "./temp-dir.ts";

export interface Told {
  readonly code: number;
  readonly out: string;
  readonly err: readonly string[];
}

/** A folder with these files, and `assay tape …` on them; `DIR/` in an argument or an answer stands for the folder. */
export function tapeFolder(files: Readonly<Record<string, string>>) {
  const folder = tempDir();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const shown = (text: string) => text.replaceAll(`${folder}/`, "DIR/").replaceAll(folder, "DIR");
  const tape = async (line: string, over: Partial<Io> = {}): Promise<Told> => {
    const io = recordedIo(over);
    const args = line.split(" ").map((word) => word.replace(/^DIR/, folder));
    const code = await main(["tape", ...args], { io, env: {}, cwd: folder });
    return { code, out: shown(io.outText()), err: io.errLines.map(shown) };
  };
  return { folder, tape };
}

/** The text of a sidecar with these rows. */
export function rowsText(rows: readonly Partial<Row>[], tapePath: string | null = null): string {
  return sidecarText({ header: aSidecarHeader({ tape_path: tapePath }), rows: rows.map(aRow) });
}
