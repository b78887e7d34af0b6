import { statSync } from "node:fs";
import { resolve } from "node:path";
import { evalJsonText } from "../../formats/evals/eval-json.ts";
import type { EvalOutcome } from "../../formats/evals/eval-outcome.ts";
import { junitXml } from "../../formats/evals/junit.ts";
import { markdownText } from "../../formats/evals/markdown.ts";
import { sarifText } from "../../formats/evals/sarif.ts";
import { FileError } from "../../formats/text/file-error.ts";
import { AppError } from "../../protocol/errors.ts";
import { writeOutput } from "../files/write-file.ts";
import { packageVersion } from "../version.ts";
import { withoutContent } from "./outcome-of.ts";

export interface EvalFiles {
  readonly output?: string | undefined;
  readonly junit?: string | undefined;
  readonly md?: string | undefined;
  readonly sarif?: string | undefined;
  readonly withContent: boolean;
}

/** Before anything is run: an hour later would be too late to hear it. */
export function checkFiles({ output, junit, md, sarif }: EvalFiles): void {
  const paths = [output, junit, md, sarif].filter((path) => path !== undefined);
  const twice = paths.find((path, i) => paths.findIndex((other) => resolve(other) === resolve(path)) < i);
  if (twice !== undefined) throw refuse(`${twice} is named for two files`);
  for (const path of paths) {
    if (path === "") throw refuse("a file to write has no name");
    if (isFolder(path)) throw refuse(`${path} is a folder; name a file`);
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Whether it can be written is found out by writing it.
    return false;
  }
}

/** Each is written whole or not at all. Only the Markdown quotes what was said without being told to. */
export async function writeFiles(outcome: EvalOutcome, files: EvalFiles): Promise<void> {
  const shown = files.withContent ? outcome : withoutContent(outcome);
  const texts = [
    [files.output, () => evalJsonText(shown)],
    [files.junit, () => junitXml(shown)],
    [files.sarif, () => sarifText(shown, packageVersion())],
    [files.md, () => markdownText(outcome)],
  ] as const;
  for (const [path, text] of texts) if (path !== undefined) await writeText(path, text());
}

/** What `--json` prints: the same as `--output` writes. */
export function jsonText(outcome: EvalOutcome, { withContent }: Pick<EvalFiles, "withContent">): string {
  return evalJsonText(withContent ? outcome : withoutContent(outcome)).trimEnd();
}

export async function writeText(path: string, text: string): Promise<void> {
  await writeOutput(path, [text]).catch((error: unknown) => {
    if (error instanceof FileError) throw refuse(`${path} cannot be written: ${error.message}`);
    throw error;
  });
}

function refuse(problem: string): AppError {
  return new AppError("unusable_input", { problem });
}
