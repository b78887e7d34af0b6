import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export interface Program {
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The reason why a program was not started. */
export interface NotStarted {
  /** The system's code, such as `ENOENT`. */
  readonly code: string;
  readonly problem: string;
}

/** Searches without a marked process before all are taken to be ended: a process has no mark for a moment while it becomes another program. */
const LOOKS_IN_VAIN = 3;

/** A program in a process group of its own, with a mark in its environment that its children inherit. */
export class StartedProgram {
  readonly child: ChildProcess;
  /** Resolves when it has ended. */
  readonly exited: Promise<void>;
  readonly #mark: string;

  private constructor(child: ChildProcess, mark: string) {
    this.child = child;
    this.#mark = mark;
    this.exited = new Promise((resolve) => child.once("exit", () => resolve()));
    // A program that does not read its input is no failure by itself.
    child.stdin?.on("error", () => {});
  }

  /** Starts a program. Invalid arguments, such as one with a NUL, are refused at once; other errors are events of the child. */
  static start(program: Program, stdio: StdioOptions): StartedProgram | NotStarted {
    const { args, directory, environment } = program;
    // Each program has a mark of its own name, so that a program of ours keeps the mark that it got. The name is one that shells pass on.
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

  /** Ends its group, also where the program has ended and left others in it. */
  async endGroup(killMs: number, hurry?: Hurry): Promise<void> {
    const leader = this.child.pid;
    if (leader === undefined) return;
    if (!this.hasExited || hasMembers(leader)) await endProcessGroup(leader, killMs, hurry);
    await this.exited;
    this.child.stdin?.destroy();
  }

  /** Ends all processes that it started, also those that left its group, as far as the system shows them. */
  async endAll(killMs: number, hurry?: Hurry): Promise<void> {
    await this.endGroup(killMs, hurry);
    await endMarked(`${this.#mark}=1`, LOOKS_IN_VAIN);
  }

  /** The same after the program has ended: a single search is enough. */
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

const POLL_MS = 20;
/** How long killed processes may take to end; others are stuck in the kernel. */
const GONE_MS = 2_000;

/** Identifies a process, also where another one gets its number later. */
export interface ProcessMark {
  readonly pid: number;
  /** Its start in the kernel's count; empty where that is unknown. */
  readonly started: string;
}

export function markOf(pid: number): ProcessMark {
  return { pid, started: statOf(pid)?.started ?? "" };
}

/** Ends a group whose leader is identified. */
export async function endLeftOver(leader: ProcessMark, killMs: number): Promise<void> {
  if (leader.started === "") return;
  const now = statOf(leader.pid);
  // A number is not used for another process while a group has it.
  if (now !== undefined && now.started !== leader.started) return;
  await endProcessGroup(leader.pid, killMs);
}

/** Whether a program should be killed without waiting for its end. */
type Hurry = () => Promise<boolean>;

/** Asks all processes of a group to end, and kills the remaining ones after `killMs`. */
async function endProcessGroup(leader: number, killMs: number, hurry: Hurry = async () => false): Promise<void> {
  signal(-leader, "SIGTERM");
  for (let waitedMs = 0; waitedMs < killMs && hasMembers(leader); waitedMs += POLL_MS) {
    if (await hurry()) break;
    await sleep(POLL_MS);
  }
  signal(-leader, "SIGKILL");
  for (let waitedMs = 0; waitedMs < GONE_MS && hasMembers(leader); waitedMs += POLL_MS) await sleep(POLL_MS);
}

/** Whether any process of a group still runs. */
export function hasMembers(leader: number): boolean {
  if (!canSignal(-leader)) return false;
  const pids = processes();
  // Ended processes whose parent has not read their status are members too, and may stay so for ever.
  return pids === undefined || pids.some((pid) => statOf(pid)?.group === leader);
}

/**
 * Kills processes with `NAME=value` in their environment, where the system shows it, also those that left their group. They may start others
 * meanwhile, so the youngest are killed first, until none are found so many times.
 */
async function endMarked(mark: string, looksInVain: number): Promise<void> {
  let inVain = 0;
  for (let waitedMs = 0; waitedMs < GONE_MS; waitedMs += POLL_MS) {
    const marked = (processes() ?? [])
      .sort((a, b) => b - a)
      .filter((pid) => environmentOf(pid).includes(mark) && signal(pid, "SIGKILL"));
    inVain = marked.length === 0 ? inVain + 1 : 0;
    if (inVain === looksInVain) return;
    await sleep(POLL_MS);
  }
}

/** The environment of a process; empty for those of other users and ended ones. */
function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\u0000");
  } catch {
    return [];
  }
}

/** Sends a signal; false where there is no such process. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

function canSignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function processes(): number[] | undefined {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return undefined;
  }
}

/** The group and start of a process; undefined for an ended one, and where the system does not show it. */
function statOf(pid: number): { readonly group: number; readonly started: string } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name comes second, in parentheses, and may hold anything.
    const [state = "", , group = "", ...rest] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return state === "Z" || state === "X" ? undefined : { group: Number(group), started: rest[16] ?? "" };
  } catch {
    return undefined;
  }
}
