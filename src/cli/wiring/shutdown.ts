import type { Logger } from "pino";
import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { type ProcessLog, processLog } from "./log.ts";
import { type ProcessScrubber, processScrubber } from "./process-scrubber.ts";

/** The time for closing after the grace period; then the process ends itself. */
const STUCK_MS = 5_000;

/**
 * Runs a serving process until a signal ends it. `start` opens its parts, adds their closing to the shutdown, and reports that the process
 * is ready; when it throws, the parts are closed.
 */
export async function runUntilStopped(
  { config, io, stopped: given }: Call,
  start: (logs: ProcessLog, shutdown: Shutdown, scrubber: ProcessScrubber) => Promise<void>,
): Promise<number> {
  const scrubber = await processScrubber(config);
  const logs = processLog(config.logLevel, scrubber, given && { write: (line) => io.err(line.trimEnd()) });
  const { log, flush } = logs;
  if (given === undefined) exitOnBugs(log, flush);
  const stopped = given ?? untilStopped();
  const shutdown = new Shutdown();
  const end = () =>
    shutdown.run(config.shutdownGraceMs, (error, name) => log.error({ err: error }, `${name} did not end well`));
  try {
    await start(logs, shutdown, scrubber);
  } catch (error) {
    await end();
    flush();
    throw error;
  }
  const signal = await stopped;
  log.info({ signal }, "stopping");
  if (io.errIsTerminal) io.err("Stopping. Press ctrl-c again to end at once.");
  if (given === undefined) exitIfStuck(config.shutdownGraceMs + STUCK_MS, log, flush);
  await end();
  log.info("stopped");
  flush();
  return EXIT.fine;
}

type Closer = { readonly name: string; readonly close: (remainingMs: number) => unknown };

/** The parts of the process, closed in the opposite order of their opening. */
export class Shutdown {
  readonly #closers: Closer[] = [];

  /** `close` gets the time that is left of the grace period. */
  add(name: string, close: Closer["close"]): void {
    this.#closers.push({ name, close });
  }

  /** Closes all parts. A part that fails to close is reported, and the others are still closed. */
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

/** Resolves with the first signal. The second ends the process at once with the exit code of shells: 128 and its number. */
function untilStopped(): Promise<StopSignal> {
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

/** Ends the process at an error that is not caught anywhere: its state is unknown then. Acknowledged writes are on disk. */
function exitOnBugs(log: Logger, flush: () => void): void {
  const fail = (error: unknown) => {
    log.fatal({ err: error }, "unexpected failure");
    flush();
    process.exit(EXIT.noVerdict);
  };
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
}

/** Ends the process when a part does not close in time. The data survives that, as it survives a killed process. */
function exitIfStuck(afterMs: number, log: Logger, flush: () => void): void {
  const end = () => {
    log.error("not everything ended in time");
    flush();
    process.exit(EXIT.noVerdict);
  };
  setTimeout(end, afterMs).unref();
}
