import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { endGroup, endMarked, type Hurry, hasMembers } from "./process-group.ts";

export interface Program {
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Why a program does not run. */
export interface NotStarted {
  /** As the system calls it, such as `ENOENT`. */
  readonly code: string;
  readonly problem: string;
}

/** One that is just about to become another program shows no mark for a moment, so a single look that finds none proves nothing. */
const LOOKS_IN_VAIN = 3;

/** A program in a process group of its own, with a mark that whatever it starts inherits. */
export class StartedProgram {
  readonly child: ChildProcess;
  /** When it has ended, by itself or not. */
  readonly exited: Promise<void>;
  readonly #mark: string;

  private constructor(child: ChildProcess, mark: string) {
    this.child = child;
    this.#mark = mark;
    this.exited = new Promise((resolve) => child.once("exit", () => resolve()));
    // A program that does not read its input is no failure by itself.
    child.stdin?.on("error", () => {});
  }

  /** Arguments that no system takes, such as one with a zero in it, are refused at once; all else the child tells by `error`. */
  static start(program: Program, stdio: StdioOptions): StartedProgram | NotStarted {
    const { args, directory, environment } = program;
    // A name of its own for each: a program of ours that starts others must not take away the mark it got. Shells pass on only names that
    // they could write themselves.
    const mark = `ASSAY_STARTED_${randomUUID().replaceAll("-", "")}`;
    try {
      const env = { ...environment, PWD: directory, [mark]: "1" };
      const child = spawn(program.program, [...args], { cwd: directory, env, stdio, detached: true });
      return new StartedProgram(child, mark);
    } catch (error) {
      return notStarted(program, error);
    }
  }

  get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Ends its group, also when it has ended by itself and left others behind in it. */
  async endGroup(killMs: number, hurry?: Hurry): Promise<void> {
    const leader = this.child.pid;
    if (leader === undefined) return;
    if (!this.hasExited || hasMembers(leader)) await endGroup(leader, killMs, hurry);
    await this.exited;
    this.child.stdin?.destroy();
  }

  /** Ends all that it started, also what left its group, as far as the system tells. */
  async endAll(killMs: number, hurry?: Hurry): Promise<void> {
    await this.endGroup(killMs, hurry);
    await endMarked(`${this.#mark}=1`, LOOKS_IN_VAIN);
  }

  /** The same after it ended by itself, when nobody is in the middle of starting anything: one look will do. */
  async endRest(killMs: number): Promise<void> {
    await this.endGroup(killMs);
    await endMarked(`${this.#mark}=1`, 1);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such program",
  EACCES: "it may not be executed",
  E2BIG: "its arguments are too long",
};

export function notStarted({ program, directory }: Program, error: unknown): NotStarted {
  const { code = "", message } = error as NodeJS.ErrnoException;
  const why = existsSync(directory) ? (REASONS[code] ?? message) : `there is no directory ${directory}`;
  return { code, problem: `${program} cannot be started: ${why}` };
}
