import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { main } from "../cli/main.ts";
import { fileBytes } from "../cli/tapes/files/tape-files.ts";
import { loadSidecar } from "../formats/tapes/sidecar/read-sidecar.ts";
import type { Sidecar } from "../formats/tapes/sidecar/sidecar.ts";
import { recordedIo } from "./recorded-io.ts";
import { tempDir } from "./temp-dir.ts";

export const TAPE_DIGEST = "67631f1b28c86089e40c4834504787c1521d029b0d3e9eb819469a014c542923";
export const TAPE_HEADER = '{"type":"header","version":1,"harn_version":"1"}';
const record = (seq: number) =>
  `{"type":"record","seq":${seq},"virtual_time_ms":0,"monotonic_ms":0,"kind":{"kind":"clock_sleep","duration_ms":${seq}}}`;

export interface Told {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A folder with a tape of the events 0, 1, 2 and 5, and `tape annotate` on it. */
export function bench(sidecar?: string) {
  const folder = tempDir();
  const tape = join(folder, "run.tape");
  const beside = `${tape}.annotations.jsonl`;
  writeFileSync(tape, [TAPE_HEADER, ...[0, 1, 2, 5].map(record)].join("\n"));
  if (sidecar !== undefined) writeFileSync(beside, sidecar);
  const annotate = async (line: string, ...more: string[]): Promise<Told> => {
    const io = recordedIo();
    const env = { ASSAY_AUTHOR: "ada" };
    const code = await main(["tape", "annotate", tape, ...line.split(" ").filter(Boolean), ...more], {
      io,
      env,
      cwd: folder,
    });
    return { code, out: io.outText(), err: io.errLines.join("\n") };
  };
  return { folder, tape, beside, annotate, text: () => readFileSync(beside, "utf8"), load: () => load(beside) };
}

export function load(path: string): Promise<Sidecar> {
  return loadSidecar(path, fileBytes(path));
}
