import { constants } from "node:os";
import type { Io } from "../output/io.ts";

/** As a shell counts: what a signal ended has 128 and the number of the signal. */
const KILLED = 128;

/**
 * Lets a person stop what started other programs: those are in groups of their own, so nobody else would end them. Resolves with the
 * exit code.
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
