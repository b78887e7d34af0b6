import type { Call } from "../program/command.ts";
import { EXIT } from "../program/exit-codes.ts";
import { type ProcessLog, processLog } from "./log.ts";
import { type ProcessScrubber, processScrubber } from "./process-scrubber.ts";
import { exitIfStuck, exitOnBugs, Shutdown, untilStopped } from "./shutdown.ts";

/** After the grace period, how long closing may still take before the process ends itself. */
const STUCK_MS = 5_000;

/**
 * The life of a process that serves until a signal ends it. `start` opens what it needs, says how each part is closed,
 * and tells the user that it is ready; when it throws, what it had opened is closed.
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
