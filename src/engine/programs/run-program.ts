import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import type { Readable } from "node:stream";
import { endGroup, endMarked, hasMembers } from "./process-group.ts";

export interface ProgramCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly input: string;
  readonly limits: ProgramLimits;
  readonly signal: AbortSignal;
}

export interface ProgramLimits {
  /** For everything from its start to its end. */
  readonly timeMs: number;
  /** Of what it prints. */
  readonly outputBytes: number;
  /** Of what it writes to file descriptor 3. */
  readonly sideBytes: number;
  /** How long it may take to end when asked to. */
  readonly killMs: number;
}

/** How it ended. `stderr` is the last that it wrote there. */
export type ProgramEnd =
  | { readonly type: "not-started"; readonly problem: string }
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

/** In the environment of whatever is started here, and inherited: it tells those that left their group. */
const RUN_MARK = "ASSAY_PROGRAM_RUN";
const STDERR_CHARACTERS = 2_000;
/** What the program said is there soon after its end; a process that it left behind may hold the pipes for ever. */
const PIPES_MS = 250;

/**
 * Runs a program with its input on stdin, and takes what it writes to stdout and to file descriptor 3. Whichever way it ends, nothing
 * that it started is left, as far as the system can tell. Rejects with the reason of the signal, after that, when it is aborted.
 */
export async function runProgram(call: ProgramCall): Promise<ProgramEnd> {
  call.signal.throwIfAborted();
  const mark = randomUUID();
  const child = started(call, mark);
  if ("type" in child) return child;
  const end = await endOf(child, call);
  if (end.type !== "not-started") {
    await endAll(child, call.limits.killMs);
    endMarked(`${RUN_MARK}=${mark}`);
  }
  call.signal.throwIfAborted();
  return end;
}

/** Arguments that no system takes, such as one with a zero in it, are refused at once; all else is told by events. */
function started(call: ProgramCall, mark: string): ChildProcess | Extract<ProgramEnd, { type: "not-started" }> {
  const { program, args, directory, environment } = call;
  try {
    return spawn(program, [...args], {
      cwd: directory,
      env: { ...environment, PWD: directory, [RUN_MARK]: mark },
      stdio: ["pipe", "pipe", "pipe", "pipe"],
      // A group of its own, so that it can be ended with all that it started.
      detached: true,
    });
  } catch (error) {
    return notStarted(call, error);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program",
  EACCES: "it may not be executed",
  E2BIG: "its arguments are too long",
};

function notStarted({ program, directory }: ProgramCall, error: unknown) {
  const { code = "", message } = error as NodeJS.ErrnoException;
  const why = existsSync(directory) ? (REASONS[code] ?? message) : `there is no directory ${directory}`;
  return { type: "not-started", problem: `${program} cannot be started: ${why}` } as const;
}

/** The first of: it could not be started, it ended and its pipes did, it broke a limit, nobody waits any longer. */
function endOf(child: ChildProcess, call: ProgramCall): Promise<ProgramEnd> {
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
    const side = new Collected(extra, limits.sideBytes, () =>
      settle({ type: "too-much", where: "file descriptor 3", stderr }),
    );
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-STDERR_CHARACTERS);
    });
    child.once("error", (error) => settle(notStarted(call, error)));
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
    child.once("exit", (...how) => timers.push(setTimeout(ended, PIPES_MS, ...how)));
    timers.push(setTimeout(stop, limits.timeMs));
    signal.addEventListener("abort", stop, { once: true });
    // A program that does not read its input is no failure by itself.
    child.stdin?.on("error", () => {});
    child.stdin?.end(call.input);
  });
}

class Collected {
  readonly #chunks: Buffer[] = [];
  #length = 0;

  constructor(stream: unknown, maxBytes: number, tooMuch: () => void) {
    const readable = stream as Readable | null | undefined;
    readable?.on("error", () => {});
    readable?.on("data", (chunk: Buffer) => {
      this.#length += chunk.length;
      if (this.#length > maxBytes) tooMuch();
      else this.#chunks.push(chunk);
    });
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

/** All of its group, also when it has ended by itself and left others behind. */
async function endAll(child: ChildProcess, killMs: number): Promise<void> {
  const leader = child.pid;
  if (leader === undefined) return;
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  const exited = new Promise<void>((resolve) => (isOver() ? resolve() : child.once("exit", () => resolve())));
  if (!isOver() || hasMembers(leader)) await endGroup(leader, killMs);
  await exited;
}
