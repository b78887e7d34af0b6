import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Carrier, Limits, Sending, Sent, StreamWatch } from "./carrier.ts";
import { type CommandLine, commandArguments } from "./command-line.ts";
import { endGroup, endMarked, hasMembers, RUN_MARK } from "./process-group.ts";

export interface CommandSettings {
  readonly command: CommandLine;
  /** The same for every turn of a conversation: the real command keeps its sessions by directory. */
  readonly directory: string;
  readonly title: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly limits: Limits;
}

/** A provider that is a program. Its output goes to a file, because some programs lose what their reader has not taken in time. */
export function commandCarrier({ command, directory, title, environment, limits }: CommandSettings): Carrier {
  return {
    send: (sending) =>
      runProgram(
        {
          program: command.program,
          args: commandArguments(command, { directory, title, session: sending.session }),
          directory,
          environment,
          input: `${sending.line}\n`,
        },
        sending,
        limits,
      ),
  };
}

export interface Program {
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly input: string;
}

type Following = Pick<Sending, "streamPath" | "watch" | "signal" | "onStarted">;

/**
 * Runs a program within limits. Afterwards none of its process group is left, and when it had to be stopped, nothing that it started.
 */
export async function runProgram(program: Program, following: Following, limits: Limits): Promise<Sent> {
  const { streamPath, watch, signal, onStarted } = following;
  signal.throwIfAborted();
  const file = await open(streamPath, "w+", 0o600);
  const mark = randomUUID();
  try {
    const child = started(program, file, mark);
    if ("started" in child) return child;
    const running = new Running(child, file, watch, limits, mark);
    const failed = await running.failure();
    if (failed !== undefined) return notStarted(program, failed);
    try {
      onStarted?.(child.pid ?? 0);
      child.stdin?.end(program.input);
      return await running.untilEnd(signal);
    } catch (error) {
      // Of ours perhaps, such as a full disk: what was started must not outlive it.
      await running.stop();
      throw error;
    }
  } finally {
    await file.close();
  }
}

/** Arguments that no system takes, such as one with a zero in it, are refused at once; all else is told by events. */
function started(program: Program, file: FileHandle, mark: string): ChildProcess | NotStarted {
  const { args, directory, environment } = program;
  try {
    return spawn(program.program, [...args], {
      cwd: directory,
      env: { ...environment, PWD: directory, [RUN_MARK]: mark },
      stdio: ["pipe", file.fd, "pipe"],
      // A group of its own, so that it can be ended with all that it started.
      detached: true,
    });
  } catch (error) {
    return notStarted(program, error);
  }
}

type NotStarted = Extract<Sent, { readonly started: false }>;

const CHUNK_BYTES = 1 << 18;
const POLL_MS = 20;
/** More is read and forgotten. */
const STDERR_MAX = 1 << 16;
/** For what is still on its way when the program has ended; a process that left its group may hold the pipe for ever. */
const STDERR_WAIT_MS = 250;

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program",
  EACCES: "it may not be executed",
  E2BIG: "its arguments are too long",
};

function notStarted({ program, directory }: Program, error: unknown): NotStarted {
  const { code = "", message } = error as NodeJS.ErrnoException;
  const why = existsSync(directory) ? (REASONS[code] ?? message) : `there is no directory ${directory}`;
  return { started: false, name: code, message: `${program} cannot be started: ${why}` };
}

class Running {
  readonly #child: ChildProcess;
  readonly #file: FileHandle;
  readonly #watch: StreamWatch;
  readonly #limits: Limits;
  readonly #mark: string;
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  readonly #exited: Promise<unknown>;
  readonly #stderrEnded: Promise<unknown>;
  #isOver = false;
  #read = 0;
  #stderr = "";

  constructor(child: ChildProcess, file: FileHandle, watch: StreamWatch, limits: Limits, mark: string) {
    this.#mark = mark;
    this.#child = child;
    this.#file = file;
    this.#watch = watch;
    this.#limits = limits;
    // A program that does not read its input is no failure by itself.
    child.stdin?.on("error", () => {});
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      if (this.#stderr.length < STDERR_MAX) this.#stderr = (this.#stderr + text).slice(0, STDERR_MAX);
    });
    this.#stderrEnded = new Promise((resolve) => child.stderr?.once("close", resolve));
    this.#exited = new Promise<void>((resolve) =>
      child.once("exit", () => {
        this.#isOver = true;
        resolve();
      }),
    );
  }

  /** Why it could not be started; undefined when it was. */
  async failure(): Promise<unknown> {
    try {
      await once(this.#child, "spawn");
      return undefined;
    } catch (error) {
      return error;
    }
  }

  async untilEnd(signal: AbortSignal): Promise<Sent> {
    const startedMs = performance.now();
    let answeredMs: number | undefined;
    let limited = false;
    while (!this.#isOver && !limited && !signal.aborted) {
      await Promise.race([this.#exited, sleep(POLL_MS)]);
      limited = await this.#takeMore();
      const nowMs = performance.now();
      if (this.#watch.answered) answeredMs ??= nowMs;
      if (this.#isOver) break;
      if (nowMs - startedMs >= this.#limits.timeMs) limited = true;
      if (answeredMs !== undefined && nowMs - answeredMs >= this.#limits.graceMs) limited = true;
    }
    if (limited || signal.aborted) await this.stop();
    else await this.#end();
    signal.throwIfAborted();
    if (limited) await this.#file.truncate(Math.min(this.#read, this.#limits.bytes));
    else limited = await this.#takeMore();
    await Promise.race([this.#stderrEnded, sleep(STDERR_WAIT_MS)]);
    const { exitCode, signalCode } = this.#child;
    return { started: true, exitCode, signal: signalCode ?? undefined, limited, stderr: this.#stderr };
  }

  /** Ends it with all that it started, also what left its group. */
  async stop(): Promise<void> {
    await this.#end();
    await endMarked(this.#mark);
  }

  /** All of its group, also when it has ended by itself and left others behind. */
  async #end(): Promise<void> {
    const leader = this.#child.pid ?? 0;
    if (!this.#isOver || hasMembers(leader)) await endGroup(leader, this.#limits.killMs, () => this.#writesOn());
    await this.#exited;
    this.#child.stdin?.destroy();
  }

  /** Whether it goes on filling the disk although it was asked to end. */
  async #writesOn(): Promise<boolean> {
    const { size } = await this.#file.stat();
    return size > 2 * this.#limits.bytes;
  }

  /** Reads what there is. True when there is more than may be. */
  async #takeMore(): Promise<boolean> {
    for (;;) {
      const room = this.#limits.bytes - this.#read;
      const { bytesRead } = await this.#file.read(this.#buffer, 0, Math.min(CHUNK_BYTES, room + 1), this.#read);
      if (bytesRead === 0) return false;
      this.#watch.take(this.#buffer.subarray(0, Math.min(bytesRead, room)));
      this.#read += bytesRead;
      if (bytesRead > room || this.#watch.lines > this.#limits.lines) return true;
    }
  }
}
