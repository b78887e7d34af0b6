import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { main } from "../cli/main.ts";
import { bodyHash } from "../formats/tapes/digest.ts";
import { recordedIo } from "./recorded-io.ts";
import { aRow, aSidecarHeader, aTape, bytesOf, sidecarText, tapeText } from "./tape-files.ts";
import { tempDir } from "./temp-dir.ts";

export const BODIES = ["first body", Uint8Array.of(0xff, 0xfe)].map((body) =>
  typeof body === "string" ? bytesOf(body) : body,
);
export const HASHES = await Promise.all(BODIES.map(bodyHash));
export const SIDECAR = `# kept as it is\n${sidecarText({ header: aSidecarHeader(), rows: [aRow()] })}`;

export function call(content_hash: string, len_bytes = 1n) {
  return { kind: "llm_call", request_digest: "r", response: { content_hash, len_bytes } } as const;
}

/** A tape with two bodies and a sidecar, and whatever else it refers to. */
export function bundleBench(alsoRefersTo: readonly string[] = []) {
  const folder = tempDir();
  const tape = join(folder, "run.tape");
  writeFileSync(tape, tapeText(aTape(...[...HASHES, ...alsoRefersTo].map((hash) => call(hash)))));
  writeFileSync(`${tape}.annotations.jsonl`, SIDECAR);
  mkdirSync(`${tape}.cas`);
  for (const [i, body] of BODIES.entries()) writeFileSync(join(`${tape}.cas`, HASHES[i] as string), body);
  return { folder, tape, bundle: `${tape}.bundle.tar` };
}

export async function assayTape(...argv: string[]) {
  const io = recordedIo();
  const code = await main(["tape", ...argv], { io, env: {} });
  return { code, out: io.outText(), err: io.errLines.join("\n") };
}

/** What is in a folder and below it. */
export function filesIn(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {};
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path, "latin1")];
    }),
  );
}
