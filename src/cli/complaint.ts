import type { AppError } from "../protocol/errors.ts";

/** What a command says about an error that was thrown on purpose. */
export function complaint({ code, details, message: text }: AppError, json: boolean): string {
  // The table ends every message with a full stop, also after a question.
  const message = text.replace(/\?\.$/, "?");
  return json ? JSON.stringify({ error: code, message, details }) : `assay: ${message}`;
}
