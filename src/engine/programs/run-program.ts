import type { Readable } from "node:stream";
import { type NotStarted, notStarted, type Program, StartedProgram } from "./started-program.ts";
import { WATCHDOG } from "./watchdog.ts";

interface ProgramCall extends Program {
  readonly input: string;
  readonly limits: ProgramLimits;
  readonly signal: AbortSignal;
  /** Whether processes that left the group of a successful program may continue: they may be services. */
  readonly mayLeaveServices?: boolean;
}

export interface ProgramLimits {
  /** The time from its start to its end; without it only the signal ends it. */
  readonly timeMs?: number;
  /** Bytes of stdout. */
  readonly outputBytes: number;
  /** Bytes of file descriptor 3, which exists only with this limit. */
  readonly sideBytes?: number;
  /** The time to end after it was asked to. */
  readonly killMs: number;
}

/** The end of a program. `stderr` is the end of its output there. */
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

/** Characters of stderr that are kept: more than are quoted, because secrets are removed before the quotation is cut. */
const STDERR_KEPT = 16_384;
const STDERR_QUOTED = 2_000;
/** The first word of a cut text, which may be the rest of a secret. */
const CUT_WORD = /^\S{0,256}\s*/;
/** How long output is awaited after the end of a program: a process that it left may hold the pipes for ever. */
const PIPES_MS = 250;

/**
 * Runs a program with its input on stdin, and reads stdout and, with a limit for it, file descriptor 3. After its end, all processes that it started
 * are ended, as far as the system shows them; its group is ended too where this process is killed. Rejects with the reason of an aborted signal,
 * after the program has ended.
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

/** The first of: it could not be started, it ended and its pipes closed, it exceeded a limit, the signal was aborted. */
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
    // There are no pipes where the system has no descriptors left.
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
    // Where this process was blocked, the timer may be due before the pipes were read.
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

/** The end of a program's stderr for a quotation, without secrets and without a cut word. */
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
