import type { Readable } from "node:stream";
import { type NotStarted, notStarted, type Program, StartedProgram } from "./started-program.ts";
import { WATCHDOG } from "./watchdog.ts";

interface ProgramCall extends Program {
  readonly input: string;
  readonly limits: ProgramLimits;
  readonly signal: AbortSignal;
  /** What left the group of a program that ended well is let be: it may be a service that outlives it on purpose. */
  readonly mayLeaveServices?: boolean;
}

export interface ProgramLimits {
  /** For everything from its start to its end; without it the signal alone says when it is too late. */
  readonly timeMs?: number;
  /** Of what it prints. */
  readonly outputBytes: number;
  /** Of what it writes to file descriptor 3, which it does not have without this. */
  readonly sideBytes?: number;
  /** How long it may take to end when asked to. */
  readonly killMs: number;
}

/** How it ended. `stderr` is the last that it wrote there. */
export type ProgramEnd =
  | ({ readonly type: "not-started" } & NotStarted)
  | {
      readonly type: "ended";
      /** Null when a signal ended it. */
      readonly exitCode: number | null;
      readonly signalName?: string;
      readonly stdout: Buffer;
      readonly side: Buffer;
      readonly stderr: string;
    }
  | { readonly type: "too-slow"; readonly stderr: string }
  | { readonly type: "too-much"; readonly where: "stdout" | "file descriptor 3"; readonly stderr: string };

/** More than is quoted: secrets are taken out before the quotation is cut, or the rest of one would be shown. */
const STDERR_KEPT = 16_384;
const STDERR_QUOTED = 2_000;
/** A word that the cut went through may be the rest of a secret; longer words are cut again. */
const CUT_WORD = /^\S{0,256}\s*/;
/** What the program said is there soon after its end; a process that it left behind may hold the pipes for ever. */
const PIPES_MS = 250;

/**
 * Runs a program with its input on stdin, and takes what it writes to stdout and, if asked for, file descriptor 3. Whichever way it ends, nothing
 * that it started is left, as far as the system can tell; and nothing of its group when this process is killed. Rejects with the reason of the
 * signal, after that, when it is aborted.
 */
export async function runProgram(call: ProgramCall): Promise<ProgramEnd> {
  const { signal, limits, mayLeaveServices = false } = call;
  signal.throwIfAborted();
  const pipes = Array.from({ length: limits.sideBytes === undefined ? 3 : 4 }, () => "pipe" as const);
  const started = StartedProgram.start(call, pipes);
  if (!(started instanceof StartedProgram)) return { type: "not-started", ...started };
  const { pid } = started.child;
  if (pid !== undefined) WATCHDOG.watch(pid);
  const end = await endOf(started, call);
  if (end.type !== "not-started") {
    const hasEndedWell = end.type === "ended" && end.exitCode === 0;
    if (hasEndedWell && mayLeaveServices) await started.endGroup(limits.killMs);
    else if (end.type === "ended") await started.endRest(limits.killMs);
    else await started.endAll(limits.killMs);
  }
  if (pid !== undefined) WATCHDOG.forget(pid);
  signal.throwIfAborted();
  return end;
}

/** The first of: it could not be started, it ended and its pipes did, it broke a limit, nobody waits any longer. */
function endOf({ child }: StartedProgram, call: ProgramCall): Promise<ProgramEnd> {
  const { limits, signal } = call;
  return new Promise((resolve) => {
    let stderr = "";
    const timers: NodeJS.Timeout[] = [];
    const settle = (end: ProgramEnd) => {
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      for (const pipe of child.stdio ?? []) pipe?.destroy();
      resolve(end);
    };
    const stop = () => settle({ type: "too-slow", stderr });
    // When the system has no descriptors left, there are no pipes at all.
    const [, out, , extra] = child.stdio ?? [];
    const stdout = new Collected(out, limits.outputBytes, () => settle({ type: "too-much", where: "stdout", stderr }));
    const side = new Collected(extra, limits.sideBytes ?? 0, () =>
      settle({ type: "too-much", where: "file descriptor 3", stderr }),
    );
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-STDERR_KEPT);
    });
    child.once("error", (error) => settle({ type: "not-started", ...notStarted(call, error) }));
    const ended = (exitCode: number | null, signalName: NodeJS.Signals | null) =>
      settle({
        type: "ended",
        exitCode,
        ...(signalName === null ? {} : { signalName }),
        stdout: stdout.bytes,
        side: side.bytes,
        stderr,
      });
    child.once("close", ended);
    // Time alone proves nothing: when this process was held up, the timer is due before anybody has looked into the pipes.
    const unlessMore = (...how: Parameters<typeof ended>) => {
      const before = stdout.length + side.length;
      setImmediate(() => (stdout.length + side.length === before ? ended : unlessMore)(...how));
    };
    child.once("exit", (...how) => timers.push(setTimeout(unlessMore, PIPES_MS, ...how)));
    if (limits.timeMs !== undefined) timers.push(setTimeout(stop, limits.timeMs));
    signal.addEventListener("abort", stop, { once: true });
    child.stdin?.end(call.input);
  });
}

/** The end of what a program wrote to stderr, as it is quoted: without secrets, and without a word that was cut. */
export function lastWords(stderr: string, scrubText: (text: string) => string): string {
  const clean = scrubText(stderr.trim());
  const isWhole = stderr.length < STDERR_KEPT && clean.length <= STDERR_QUOTED;
  return isWhole ? clean : clean.slice(-STDERR_QUOTED).replace(CUT_WORD, "").toWellFormed();
}

class Collected {
  readonly #chunks: Buffer[] = [];
  length = 0;

  constructor(stream: unknown, maxBytes: number, tooMuch: () => void) {
    const readable = stream as Readable | null | undefined;
    readable?.on("error", () => {});
    readable?.on("data", (chunk: Buffer) => {
      this.length += chunk.length;
      if (this.length > maxBytes) tooMuch();
      else this.#chunks.push(chunk);
    });
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}
