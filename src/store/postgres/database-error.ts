import { DatabaseError } from "pg";
import { AppError } from "../../protocol/errors.ts";

/**
 * Classes of SQLSTATE that blame the statement or its values: unsupported, data, integrity, syntax or access,
 * limits, raised by one of our triggers. Everything else is about the server, the session or other sessions.
 */
const OURS = new Set(["0A", "21", "22", "23", "42", "54", "P0"]);

/** Another session was first, or in the way. The same transaction may succeed when it is retried. */
const CONTENDED = new Set(["23505", "40001", "40P01"]);

export function isContended(error: unknown): boolean {
  return error instanceof DatabaseError && CONTENDED.has(error.code ?? "");
}

/** A mistake in the statement or its values: it would fail again, and a transaction without it would not. */
export function isMistake(error: unknown): boolean {
  if (error instanceof DatabaseError) return OURS.has(error.code?.slice(0, 2) ?? "");
  // Errors of the driver about the connection are plain Errors; these classes are bugs in code that handles rows.
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}

/**
 * `unavailable` for a database error, the error itself for anything else. The driver's message is the cause, for the
 * log only: it names addresses, which clients must not see.
 */
export function explain(error: unknown, reason = "The database does not answer"): unknown {
  if (error instanceof AppError || isMistake(error)) return error;
  return new AppError("unavailable", { reason }, { cause: error });
}

/** The message for the operator, who gave the address of the database. */
export function explainOpening(error: unknown): unknown {
  const { message, code } = error as { message?: string; code?: string };
  // Where a name has several addresses, all of which refuse, Node's error has a code and no message.
  return explain(error, `The database cannot be opened: ${message || code || String(error)}`);
}

export function closedError(): AppError {
  return new AppError("unavailable", { reason: "The database is closed" });
}
