import { AppError } from "../../protocol/errors.ts";

const BUSY = 5;

/**
 * Result codes that say something about the database or its disk and nothing about the statement: PERM, BUSY,
 * LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB.
 */
const DATABASE_ERRORS = new Set([3, BUSY, 6, 7, 8, 9, 10, 11, 13, 14, 15, 26]);

/** Result codes for a file with invalid content: CORRUPT and NOTADB. */
export function isDamage(message: string): boolean {
  return /database disk image is malformed|file is not a database/.test(message);
}

/** The reason when the database could not do what it was asked, undefined when the error is a mistake of ours. */
export function databaseErrorOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, errcode } = error as Error & { code?: unknown; errcode?: unknown };
  if (code === "ERR_INVALID_STATE") return "The database is closed";
  // The low byte is the primary code, the rest of it says more. A row that cannot be read comes without a code.
  const known = typeof errcode === "number" ? DATABASE_ERRORS.has(errcode & 0xff) : isDamage(error.message);
  if (known) return `The database cannot answer: ${error.message}`;
  return undefined;
}

/** Another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  const errcode = (error as { errcode?: unknown } | undefined)?.errcode;
  return typeof errcode === "number" && (errcode & 0xff) === BUSY;
}

/** `unavailable` for a database error, the error itself for anything else. */
export function explain(error: unknown): unknown {
  const reason = databaseErrorOf(error);
  return reason === undefined ? error : new AppError("unavailable", { reason }, { cause: error });
}

export function closedError(): AppError {
  return new AppError("unavailable", { reason: "The database is closed" });
}
