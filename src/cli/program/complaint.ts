import type { FileError } from "../../formats/text/file-error.ts";
import type { AppError } from "../../protocol/errors.ts";
import { printable } from "../output/printable.ts";
import { cliWords } from "./cli-words.ts";

/**
 * Every error of every command has this one form on standard error: `error: MESSAGE`, or with `--json` one object. The words before
 * the message are those that the format of tapes prescribes, so commands about tapes are no exception.
 */
export function errorLine(problem: Problem, json: boolean): string {
  return json ? JSON.stringify(problem) : `error: ${problem.message}`;
}

export interface Problem {
  readonly error: string;
  readonly message: string;
  readonly details: object;
}

/** The line of an error that was thrown on purpose. */
export function complaint(error: AppError, json: boolean, flags: readonly string[] = []): string {
  const { code, details } = error;
  // The table ends every message with a full stop, also after a question.
  const message = cliWords(error, flags).replace(/\?\.$/, "?");
  return errorLine({ error: code, message, details }, json);
}

/** The line of a file that cannot be loaded or written. Scripts compare its words; on a terminal control characters are replaced. */
export function fileComplaint({ code, path, place, message }: FileError, json: boolean, isTerminal: boolean): string {
  const shown = isTerminal && !json ? printable(message) : message;
  return errorLine({ error: code, message: shown, details: { path, ...place } }, json);
}
