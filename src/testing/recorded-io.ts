import { type Io, paintFor } from "../cli/output/io.ts";

export interface RecordedIo extends Io {
  readonly outLines: string[];
  readonly errLines: string[];
  /** Everything that went to standard output, exactly. */
  outText(): string;
}

/** Takes what a command writes; nobody looks at a terminal unless the test says so. */
export function recordedIo(overrides: Partial<Io> = {}): RecordedIo {
  const outLines: string[] = [];
  const errLines: string[] = [];
  let text = "";
  return {
    out: (line) => {
      outLines.push(line);
      text += `${line}\n`;
    },
    write: async (piece) => {
      text += piece;
    },
    outText: () => text,
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
