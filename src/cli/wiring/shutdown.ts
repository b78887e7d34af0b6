import type { Logger } from "pino";
import { EXIT } from "../program/exit-codes.ts";

type Closer = { readonly name: string; readonly close: (remainingMs: number) => unknown };

/** What has to end with the process, closed in the opposite order of its opening. */
export class Shutdown {
  readonly #closers: Closer[] = [];

  /** `close` is told how much of the grace period is left. */
  add(name: string, close: Closer["close"]): void {
    this.#closers.push({ name, close });
  }

  /** A part that fails to close is reported and does not keep the others from closing. */
  async run(graceMs: number, onError: (error: unknown, name: string) => void): Promise<void> {
    const deadlineMs = Date.now() + graceMs;
    for (const { name, close } of this.#closers.splice(0).reverse()) {
      try {
        await close(Math.max(0, deadlineMs - Date.now()));
      } catch (error) {
        onError(error, name);
      }
    }
  }
}

const SIGNAL_NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;
type StopSignal = keyof typeof SIGNAL_NUMBERS;

/** Resolves with the first signal to stop. The second ends the process at once, as shells expect: 128 + its number. */
export function untilStopped(): Promise<StopSignal> {
  return new Promise((resolve) => {
    let asked = false;
    for (const signal of Object.keys(SIGNAL_NUMBERS) as StopSignal[]) {
      process.on(signal, () => {
        if (asked) process.exit(128 + SIGNAL_NUMBERS[signal]);
        asked = true;
        resolve(signal);
      });
    }
  });
}

/** Something threw where nobody catches: a bug after which nothing can be relied on. What was acknowledged is safe. */
export function exitOnBugs(log: Logger, flush: () => void): void {
  const fail = (error: unknown) => {
    log.fatal({ err: error }, "unexpected failure");
    flush();
    process.exit(EXIT.noVerdict);
  };
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
}

/** If a part hangs beyond all patience, the process ends all the same; being killed is a case it must survive anyway. */
export function exitIfStuck(afterMs: number, log: Logger, flush: () => void): void {
  const end = () => {
    log.error("not everything ended in time");
    flush();
    process.exit(EXIT.noVerdict);
  };
  setTimeout(end, afterMs).unref();
}
