import { type DestinationStream, destination, type Logger, pino } from "pino";

export interface ProcessLog {
  readonly log: Logger;
  /** Writes what is still waiting; for the last moments of the process. */
  flush(): void;
}

/** JSON lines on stderr. Written in the background: a slow reader of the log must not slow down requests. */
export function processLog(level: string): ProcessLog {
  const stream = destination({ fd: 2, sync: false });
  // Nobody reads the log any more. That is their business; the host goes on.
  stream.on("error", () => {});
  const log = pino({ level, base: { pid: process.pid } }, stream as DestinationStream);
  const flush = () => {
    try {
      stream.flushSync();
    } catch {
      // Thrown when it was never opened or is closed already: then there is nothing to write.
    }
  };
  return { log, flush };
}
