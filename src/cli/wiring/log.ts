import { type DestinationStream, destination, type Logger, pino } from "pino";
import type { Scrubber } from "../../formats/secrets/scrub.ts";

export interface ProcessLog {
  readonly log: Logger;
  /** For lines whose writer cleans what is in them. */
  readonly requestLog: Logger;
  /** Writes what is still waiting; for the last moments of the process. */
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

/** Written in the background: a slow reader of the log must not slow down requests. */
function standardError(): { readonly stream: DestinationStream; flush(): void } {
  const stream = destination({ fd: 2, sync: false });
  // The host goes on when the reader of its log is gone.
  stream.on("error", () => {});
  const flush = () => {
    try {
      stream.flushSync();
    } catch {
      // Thrown when it was never opened or is closed already: then there is nothing to write.
    }
  };
  return { stream: stream as DestinationStream, flush };
}

/** Most lines hold no secret and are written as they are. The others are cleaned by value, so that they stay JSON. */
export function cleanLine(line: string, { scrubText, scrubValue }: Scrubber): string {
  if (scrubText(line) === line) return line;
  return `${JSON.stringify(scrubValue(JSON.parse(line)))}\n`;
}
