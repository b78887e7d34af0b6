import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 20;
/** What was killed needs a moment to be gone; what cannot even then is stuck in the kernel and writes nothing any more. */
const GONE_MS = 2_000;

/** A process that can be told from another one that later got its number. */
export interface ProcessMark {
  readonly pid: number;
  /** When it started, in the kernel's count; empty where that cannot be known. */
  readonly started: string;
}

export function markOf(pid: number): ProcessMark {
  return { pid, started: statOf(pid)?.started ?? "" };
}

/** Ends a group whose leader is marked, where it is certain that it is that one. */
export async function endLeftOver(leader: ProcessMark, killMs: number): Promise<void> {
  if (leader.started === "") return;
  const now = statOf(leader.pid);
  // A number is not given to another process while a group still has it.
  if (now !== undefined && now.started !== leader.started) return;
  await endGroup(leader.pid, killMs);
}

/** Whether there is no point in waiting until a program ends by itself. */
export type Hurry = () => Promise<boolean>;

/** Asks all processes of a group to end, and ends those that have not after a while. */
export async function endGroup(leader: number, killMs: number, hurry: Hurry = async () => false): Promise<void> {
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
  // Those that have ended and that nobody has asked about yet are members too, and may stay so for ever.
  return pids === undefined || pids.some((pid) => statOf(pid)?.group === leader);
}

/**
 * Ends what has this in its environment, `NAME=value`, where the system tells: it may have left its group. One of them may start another
 * while they are looked for: they are looked for until there were none so many times, the youngest first, before they can do so.
 */
export async function endMarked(mark: string, looksInVain: number): Promise<void> {
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

/** Empty for processes of others, and for those that have ended. */
function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\u0000");
  } catch {
    return [];
  }
}

/** False when none is left. */
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

/** Undefined for a process that has ended, and where the system does not tell. */
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
