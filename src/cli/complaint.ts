import type { AppError } from "../protocol/errors.ts";
import { cliWords } from "./cli-words.ts";

/** What a command says about an error that was thrown on purpose. */
export function complaint(error: AppError, json: boolean, flags: readonly string[] = []): string {
  const { code, details } = error;
  // The table ends every message with a full stop, also after a question.
  const message = cliWords(error, flags).replace(/\?\.$/, "?");
  return json ? JSON.stringify({ error: code, message, details }) : `assay: ${message}`;
}
