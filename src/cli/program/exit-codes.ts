import { FileError } from "../../formats/text/file-error.ts";
import { AppError } from "../../protocol/errors.ts";

/** What the exit code of every command means. `docs/cli.md` prints this table. */
export const EXIT_CODES = {
  fine: { code: 0, meaning: "Fine: done, valid, completed." },
  negative: { code: 1, meaning: "A negative verdict (the run failed, the audit chain is broken), or not loadable." },
  invalid: { code: 2, meaning: "Problems found: invalid input, settings or files; refused by the state of things." },
  notAllowed: { code: 3, meaning: "Not allowed: no API key, a wrong one, or one that may not do this." },
  unreachable: { code: 4, meaning: "The server, the database or a provider cannot be reached, or cannot answer now." },
  noVerdict: { code: 5, meaning: "No verdict possible: also when Assay itself fails unexpectedly." },
} as const;

export type ExitName = keyof typeof EXIT_CODES;

export const EXIT: Readonly<Record<ExitName, number>> = {
  fine: EXIT_CODES.fine.code,
  negative: EXIT_CODES.negative.code,
  invalid: EXIT_CODES.invalid.code,
  notAllowed: EXIT_CODES.notAllowed.code,
  unreachable: EXIT_CODES.unreachable.code,
  noVerdict: EXIT_CODES.noVerdict.code,
};

/** The only way from an error to an exit code. What is not an `AppError` is a bug, and a bug is no verdict. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof FileError) return EXIT.negative;
  if (!(error instanceof AppError)) return EXIT.noVerdict;
  if (error.code === "unreachable" || error.code === "unavailable") return EXIT.unreachable;
  // Asking again may succeed: the caller's script should treat it like a server that was away.
  if (error.code === "internal_error" || error.code === "rate_limited") return EXIT.unreachable;
  if (error.status === 401 || error.status === 403) return EXIT.notAllowed;
  return EXIT.invalid;
}
