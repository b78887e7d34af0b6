import { existsSync, readFileSync, statSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { isSuiteRef } from "../../evals/suite/suite-ref.ts";
import { AppError } from "../../protocol/errors.ts";
import { withFileLock } from "../files/file-lock.ts";
import { writeWhole } from "../files/write-file.ts";

/** Where a new task is to go. */
export type SuiteTarget =
  | { readonly type: "kept"; readonly ref?: string }
  | { readonly type: "file"; readonly file: string; readonly text: string }
  | { readonly type: "new"; readonly file: string; readonly suiteId: string };

/** `--to` is a file, or the id of a suite that is kept where the run is. */
export function suiteTarget(to: string | undefined, newId: string | undefined): SuiteTarget {
  if (to === undefined || (!existsSync(to) && isSuiteRef(to))) {
    if (newId !== undefined) throw refuse("--id names the suite that a new file begins; give the file with --to FILE");
    return to === undefined ? { type: "kept" } : { type: "kept", ref: to };
  }
  if (!existsSync(to)) {
    if (newId !== undefined) return { type: "new", file: to, suiteId: newId };
    throw refuse(`${to} does not exist; to begin a suite there, name it with --id, like acme.support.evals.refunds`);
  }
  if (newId !== undefined) throw refuse(`${to} is a suite already; leave out --id`);
  return { type: "file", file: to, text: read(to) };
}

function read(file: string): string {
  try {
    if (statSync(file).isDirectory()) throw new Error("it is a folder");
    return readFileSync(file, "utf8");
  } catch (error) {
    throw refuse(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/** What is known of the tasks of a suite file, one JSON object in each line: a suite itself has no room for it. */
export function linksBeside(file: string): string {
  return `${file}.links.jsonl`;
}

/** Puts a new version in place of the file, unless somebody changed that meanwhile, and the links beside it. */
export async function writeSuite(
  target: Extract<SuiteTarget, { file: string }>,
  text: string,
  links: readonly object[],
): Promise<void> {
  const { file } = target;
  await withFileLock(file, async () => {
    const now = existsSync(file) ? read(file) : undefined;
    if (now !== (target.type === "file" ? target.text : undefined)) {
      throw refuse(`${file} was changed meanwhile and was left alone; try again`);
    }
    await writeWhole(file, [text]);
    await appendFile(linksBeside(file), links.map((link) => `${JSON.stringify(link)}\n`).join(""));
  });
}

function refuse(problem: string): AppError {
  return new AppError("unusable_input", { problem });
}
