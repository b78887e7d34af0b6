import { type DestinationStream, destination, type Logger, pino } from "pino";
import type { Scrubber } from "../../formats/secrets/scrub.ts";

export interface ProcessLog {
  readonly log: Logger;
  /** For lines from which the writer has removed secrets. */
  readonly requestLog: Logger;
  /** Writes buffered lines, before the process ends. */
  flush(): void;
}

/** JSON lines on stderr, unless another destination is given. */
export function processLog(level: string, scrubber: Scrubber, given?: DestinationStream): ProcessLog {
  const { stream, flush } = given === undefined ? standardError() : { stream: given, flush: () => {} };
  const hooks = { streamWrite: (line: string) => cleanLine(line, scrubber) };
  const settings = { level, base: { pid: process.pid } };
  const log = pino({ ...settings, hooks }, stream);
  const requestLog = pino(settings, stream);
  return { log, requestLog, flush };
}

/** Written asynchronously: a slow reader of the log must not slow down requests. */
function standardError(): { readonly stream: DestinationStream; flush(): void } {
  const stream = destination({ fd: 2, sync: false });
  // The host continues when the reader of its log is gone.
  stream.on("error", () => {});
  const flush = () => {
    try {
      stream.flushSync();
    } catch {
      // Thrown when the stream was never opened or is closed: there is nothing to write.
    }
  };
  return { stream: stream as DestinationStream, flush };
}

/** A line without secrets. Most lines have none and do not change; in others the values are replaced, so that they stay JSON. */
export function cleanLine(line: string, { scrubText, scrubValue }: Scrubber): string {
  if (scrubText(line) === line) return line;
  return `${JSON.stringify(scrubValue(JSON.parse(line)))}\n`;
}

/** A handler that logs the errors of a part of the process. */
export function reportTo(log: Logger, part: string): (error: unknown) => void {
  return (error) => log.error({ err: error }, part);
}
