import { constants } from "node:os";
import { FileError } from "../../formats/text/file-error.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Io } from "../output/io.ts";

/** The meaning of every exit code of every command. `docs/cli.md` prints this table. */
export const EXIT_CODES = {
  fine: { code: 0, meaning: "Fine: done, valid, completed." },
  negative: { code: 1, meaning: "A negative verdict (the run failed, the audit chain is broken), or not loadable." },
  invalid: { code: 2, meaning: "Problems found: invalid input, settings or files; refused by the state of things." },
  notAllowed: { code: 3, meaning: "Not allowed: no API key, a wrong one, or one that may not do this." },
  unreachable: { code: 4, meaning: "The server, the database or a provider cannot be reached, or cannot answer now." },
  noVerdict: { code: 5, meaning: "No verdict possible: also when Assay itself fails unexpectedly." },
} as const;

export const EXIT = Object.fromEntries(Object.entries(EXIT_CODES).map(([name, { code }]) => [name, code])) as Readonly<
  Record<keyof typeof EXIT_CODES, number>
>;

/** The only way from an error to an exit code. Anything but an error with a code is a bug, and a bug is no verdict. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof FileError) return EXIT.negative;
  if (!(error instanceof AppError)) return EXIT.noVerdict;
  if (MAY_WORK_LATER.has(error.code)) return EXIT.unreachable;
  return error.status === 401 || error.status === 403 ? EXIT.notAllowed : EXIT.invalid;
}

/** Scripts treat these like a server that was away: asking again may succeed. */
const MAY_WORK_LATER: ReadonlySet<string> = new Set(["unreachable", "unavailable", "internal_error", "rate_limited"]);

/** The exit code of shells for a program that a signal ended: 128 and the number of the signal. */
export function killedBy(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Handles the signals that end a process, until the function that is returned is called. */
export function onSignals(
  handle: (signal: NodeJS.Signals) => void,
  signals: readonly NodeJS.Signals[] = SIGNALS,
): () => void {
  for (const signal of signals) process.on(signal, handle);
  return () => {
    for (const signal of signals) process.off(signal, handle);
  };
}

/**
 * Runs work that a signal aborts. The programs that it started are in process groups of their own, so the signal would not end them.
 * Resolves with the exit code.
 */
export async function interruptible(
  io: Io,
  hint: string | (() => string),
  work: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  const stop = new AbortController();
  let by: NodeJS.Signals | undefined;
  const stopListening = onSignals((signal) => {
    by ??= signal;
    stop.abort();
  });
  try {
    return await work(stop.signal);
  } catch (error) {
    if (by === undefined) throw error;
    io.err(`assay: interrupted. ${typeof hint === "string" ? hint : hint()}`);
    return killedBy(by);
  } finally {
    stopListening();
  }
}

/** The code and message of an error about one of several things; the next one is tried. Rethrows errors that concern all of them. */
export function refusalOf(error: unknown): { readonly error: string; readonly message: string } {
  if (!(error instanceof AppError) || exitCodeOf(error) !== EXIT.invalid) throw error;
  return { error: error.code, message: error.message };
}
