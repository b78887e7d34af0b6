import { readFile, stat } from "node:fs/promises";
import { readBaselineFile } from "../../formats/evals/baseline-file.ts";
import { AppError } from "../../protocol/errors.ts";
import type { BaselineFile } from "../../protocol/evals/baseline-file.ts";

/** More than ten thousand tasks need. */
const BYTES_MAX = 16 * 1024 * 1024;

/** Whether a baseline is named by its file: names have no slashes, and nobody calls one like a file. */
export function isBaselineFile(named: string): boolean {
  return /[\\/]|\.json$/i.test(named);
}

/** Throws `unusable_input` that says what to do. */
export async function loadBaselineFile(path: string): Promise<BaselineFile> {
  const checked = readBaselineFile(await textOf(path));
  if (checked.ok) return checked.file;
  throw refuse(`${path} cannot be a baseline: ${checked.problem}`);
}

async function textOf(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > BYTES_MAX) throw refuse(`${path} is larger than any baseline`);
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof AppError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const problem = code === "ENOENT" ? `there is no file ${path}` : `${path} cannot be read: ${message}`;
    throw refuse(`${problem}; write one with: assay eval baseline export NAME --out FILE`);
  }
}

function refuse(problem: string): AppError {
  return new AppError("unusable_input", { problem });
}
