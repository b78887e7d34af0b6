import { constants } from "node:os";
import type { Io } from "../output/io.ts";

/** The exit code of shells for a program that a signal ended: 128 and the number of the signal. */
const KILLED = 128;

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
  const handlers = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => {
    const handler = () => {
      by ??= signal;
      stop.abort();
    };
    process.on(signal, handler);
    return [signal, handler] as const;
  });
  try {
    return await work(stop.signal);
  } catch (error) {
    if (by === undefined) throw error;
    io.err(`assay: interrupted. ${typeof hint === "string" ? hint : hint()}`);
    return KILLED + constants.signals[by];
  } finally {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  }
}
