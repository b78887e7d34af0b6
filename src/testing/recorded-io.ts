import { type Io, paintFor } from "../cli/io.ts";

export interface RecordedIo extends Io {
  readonly outLines: string[];
  readonly errLines: string[];
}

/** Takes what a command writes; nobody looks at a terminal unless the test says so. */
export function recordedIo(overrides: Partial<Io> = {}): RecordedIo {
  const outLines: string[] = [];
  const errLines: string[] = [];
  return {
    out: (line) => void outLines.push(line),
    err: (line) => void errLines.push(line),
    progress: () => {},
    outIsTerminal: false,
    errIsTerminal: false,
    outClosed: new AbortController().signal,
    paint: paintFor(false),
    outLines,
    errLines,
    ...overrides,
  };
}
