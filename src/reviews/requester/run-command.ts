import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type NotStarted, notStarted, type Program, StartedProgram } from "../../engine/programs/started-program.ts";
import { DEFAULT_AGENT } from "../reviewer.ts";
import type { Carrier, Limits, Sending, Sent, StreamWatch } from "./carrier.ts";

/** A program that answers requests, and what it is called with. */
export interface CommandLine {
  readonly program: string;
  /** Arguments before all others. */
  readonly args: readonly string[];
  readonly agent: string;
  /** Whether it supports `--dir` and `--title`, as the real command does. */
  readonly takes_directory: boolean;
}

export const REAL_COMMAND = "opencode";

type Chosen = { readonly [K in keyof CommandLine]?: CommandLine[K] | undefined };

/** The command line; the real command by default. Other programs get only arguments that they are sure to support. */
export function commandLine(chosen: Chosen): CommandLine {
  const { program = REAL_COMMAND, args = [], agent = DEFAULT_AGENT, takes_directory = false } = chosen;
  const isReal = basename(program).replace(/\.(exe|cmd)$/, "") === REAL_COMMAND;
  return {
    program,
    args: isReal && args.length === 0 ? ["run"] : args,
    agent,
    takes_directory: takes_directory || isReal,
  };
}

export interface CalledWith {
  readonly directory: string;
  readonly title: string;
  readonly session: string | undefined;
}

/** A list, never a line for a shell. */
export function commandArguments(command: CommandLine, { directory, title, session }: CalledWith): string[] {
  return [
    ...command.args,
    ...["--agent", command.agent, "--format", "json"],
    ...(command.takes_directory ? ["--dir", directory, "--title", title] : []),
    ...(session === undefined ? [] : ["--session", session]),
  ];
}

/** A copy of the session was asked for, so another one comes back. */
export function isForked({ args }: CommandLine): boolean {
  return args.includes("--fork");
}

const LENGTH_MAX = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
const BLANK_OR_CONTROL = /[\s\u0000-\u001f\u007f-\u009f]/;

/**
 * Whether a session id is safe on a command line. Ids are foreign text: one that looks like a flag would be taken for one, and the
 * real command takes an empty one for the wish to begin a new session.
 */
export function isUsableSession(id: string): boolean {
  return id !== "" && id.length <= LENGTH_MAX && !id.startsWith("-") && !BLANK_OR_CONTROL.test(id);
}

export interface CommandSettings {
  readonly command: CommandLine;
  /** The same directory for every turn of a conversation: the real command keeps its sessions by directory. */
  readonly directory: string;
  readonly title: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly limits: Limits;
}

export function commandCarrier({ command, directory, title, environment, limits }: CommandSettings): Carrier {
  return {
    send: (sending) =>
      runToFile(
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

export interface ProgramWithInput extends Program {
  readonly input: string;
}

type Following = Pick<Sending, "streamPath" | "watch" | "signal" | "onStarted">;

/**
 * Runs a program within limits. Afterwards none of its process group is left, and when it had to be stopped, nothing that it
 * started. Not by `runProgram` of the engine, which takes the output from a pipe: some programs lose output that their reader has
 * not taken in time, the output must outlive this process, and an answer ends the program sooner than its time limit does.
 */
export async function runToFile(program: ProgramWithInput, following: Following, limits: Limits): Promise<Sent> {
  const { streamPath, watch, signal, onStarted } = following;
  signal.throwIfAborted();
  const file = await open(streamPath, "w+", 0o600);
  try {
    const started = StartedProgram.start(program, ["pipe", file.fd, "pipe"]);
    if (!(started instanceof StartedProgram)) return unsent(started);
    const running = new Running(started, file, watch, limits);
    const failed = await running.failure();
    if (failed !== undefined) return unsent(notStarted(program, failed));
    try {
      onStarted?.(started.child.pid ?? 0);
      started.child.stdin?.end(program.input);
      return await running.untilEnd(signal);
    } catch (error) {
      // Errors of this process, such as a full disk, must not leave the program running.
      await running.stop();
      throw error;
    }
  } finally {
    await file.close();
  }
}

function unsent({ code, problem }: NotStarted): Sent {
  return { started: false, name: code, message: problem };
}

const CHUNK_BYTES = 1 << 18;
const POLL_MS = 20;
/** More is read and forgotten. */
const STDERR_MAX = 1 << 16;
/**
 * The time for the rest of the error output after the end of the program; a process that left its group may hold the pipe for
 * ever.
 */
const STDERR_WAIT_MS = 250;

class Running {
  readonly #started: StartedProgram;
  readonly #child: ChildProcess;
  readonly #file: FileHandle;
  readonly #watch: StreamWatch;
  readonly #limits: Limits;
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  readonly #stderrEnded: Promise<unknown>;
  #read = 0;
  #stderr = "";

  constructor(started: StartedProgram, file: FileHandle, watch: StreamWatch, limits: Limits) {
    const { child } = started;
    this.#started = started;
    this.#child = child;
    this.#file = file;
    this.#watch = watch;
    this.#limits = limits;
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      if (this.#stderr.length < STDERR_MAX) this.#stderr = (this.#stderr + text).slice(0, STDERR_MAX);
    });
    this.#stderrEnded = new Promise((resolve) => child.stderr?.once("close", resolve));
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
    while (!this.#started.hasExited && !limited && !signal.aborted) {
      await Promise.race([this.#started.exited, sleep(POLL_MS)]);
      limited = await this.#takeMore();
      const nowMs = performance.now();
      if (this.#watch.answered) answeredMs ??= nowMs;
      if (this.#started.hasExited) break;
      if (nowMs - startedMs >= this.#limits.timeMs) limited = true;
      if (answeredMs !== undefined && nowMs - answeredMs >= this.#limits.graceMs) limited = true;
    }
    if (limited || signal.aborted) await this.stop();
    else await this.#started.endGroup(this.#limits.killMs, this.#writesOn);
    signal.throwIfAborted();
    if (limited) await this.#file.truncate(Math.min(this.#read, this.#limits.bytes));
    else limited = await this.#takeMore();
    await Promise.race([this.#stderrEnded, sleep(STDERR_WAIT_MS)]);
    const { exitCode, signalCode } = this.#child;
    return { started: true, exitCode, signal: signalCode ?? undefined, limited, stderr: this.#stderr };
  }

  /** Ends it with all that it started, also what left its group. */
  stop(): Promise<void> {
    return this.#started.endAll(this.#limits.killMs, this.#writesOn);
  }

  /** Whether the program still fills the disk after the signal to end. */
  readonly #writesOn = async (): Promise<boolean> => {
    const { size } = await this.#file.stat();
    return size > 2 * this.#limits.bytes;
  };

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
