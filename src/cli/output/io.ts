import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { EXIT } from "../program/exit-codes.ts";
import { escaped } from "./printable.ts";

/** The output of a command: results on `out`, errors and hints on `err`. */
export interface Io {
  /** A line of the result. Control characters and marks of direction are escaped, on a terminal and in a file. */
  out(line: string): void;
  /** A piece of a result, unchanged, because files on standard output must be exact; escaped on a terminal. Resolves when there is room. */
  write(text: string): Promise<void>;
  /** An error, a warning or a hint. */
  err(line: string): void;
  /** A line of progress that the next one replaces; on a terminal only. */
  progress(text: string): void;
  readonly outIsTerminal: boolean;
  readonly errIsTerminal: boolean;
  /** Aborted when the reader of the output is gone: commands that follow a stream stop. */
  readonly outClosed: AbortSignal;
  /** The line that a person types after a question; undefined at the end of the input. Absent without a terminal. */
  readonly ask?: (question: string) => Promise<string | undefined>;
  /** Colours for `out`; each is the identity where colours are not wanted. */
  readonly paint: Paint;
}

export type Colour = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";
export type Paint = Readonly<Record<Colour, (text: string) => string>>;

const CODES: Readonly<Record<Colour, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

const CLEAR_LINE = "\r\u001b[K";

export function paintFor(coloured: boolean): Paint {
  const entries = Object.entries(CODES).map(([name, [on, off]]) => [
    name,
    (text: string) => (coloured ? `\u001b[${on}m${text}\u001b[${off}m` : text),
  ]);
  return Object.fromEntries(entries) as Paint;
}

export interface Streams {
  readonly stdin: Readable & MaybeTerminal;
  readonly stdout: Writable & MaybeTerminal;
  readonly stderr: Writable & MaybeTerminal;
}

interface MaybeTerminal {
  readonly isTTY?: boolean;
}

/** The streams of the process, or those of a test. A reader that goes away (`assay run watch … | head`) is no error: later output is dropped. */
export function processIo(colourWanted: boolean, { stdin, stdout, stderr }: Streams = process): Io {
  const closed = new AbortController();
  for (const stream of [stdout, stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") end(stream === stdout ? "standard output" : "standard error", error);
      if (stream === stdout) closed.abort();
    });
  }
  // One promise for all waits, because a listener for each would accumulate.
  const gone = new Promise((resolve) => closed.signal.addEventListener("abort", resolve, { once: true }));
  const outIsTerminal = stdout.isTTY === true;
  const errIsTerminal = stderr.isTTY === true;
  let inProgress = false;
  const endProgress = () => {
    if (inProgress) stderr.write(CLEAR_LINE);
    inProgress = false;
  };
  return {
    out: (line) => {
      endProgress();
      if (!closed.signal.aborted) stdout.write(`${escaped(line)}\n`);
    },
    write: async (text) => {
      endProgress();
      if (closed.signal.aborted || stdout.write(outIsTerminal ? escaped(text) : text)) return;
      await Promise.race([new Promise((resolve) => stdout.once("drain", resolve)), gone]);
    },
    err: (line) => {
      endProgress();
      stderr.write(`${escaped(line)}\n`);
    },
    progress: (text) => {
      if (!errIsTerminal) return;
      inProgress = true;
      stderr.write(`${CLEAR_LINE}${escaped(text)}`);
    },
    outIsTerminal,
    errIsTerminal,
    ...(stdin.isTTY && errIsTerminal ? { ask: (question) => ask(question, stdin, stderr) } : {}),
    outClosed: closed.signal,
    paint: paintFor(outIsTerminal && colourWanted),
  };
}

/** Ends the process at an error of its output, such as a full disk: the exit code shows that the result is not complete. */
function end(stream: string, { message }: Error): never {
  process.stderr.write(`error: write ${stream}: ${message}\n`);
  process.exit(EXIT.negative);
}

/** Asks on standard error, so that the result can be piped. Ctrl-C and the end of the input are no answer. */
async function ask(question: string, input: Readable, output: Writable): Promise<string | undefined> {
  const lines = createInterface({ input, output });
  try {
    return await new Promise((resolve) => {
      lines.once("close", () => resolve(undefined));
      lines.question(question, resolve);
    });
  } finally {
    lines.close();
  }
}

/** Whether a person says yes to a question; undefined without a terminal. */
export async function confirmed({ ask }: Pick<Io, "ask">, question: string): Promise<boolean | undefined> {
  return ask && /^y(es)?$/i.test((await ask(`${question} [y/N] `))?.trim() ?? "");
}
