import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 20;
/** What was killed needs a moment to be gone; what cannot even then is stuck in the kernel and writes nothing any more. */
const GONE_MS = 2_000;

/** Asks all processes of a group to end, and ends those that have not after a while. */
export async function endGroup(leader: number, killMs: number): Promise<void> {
  signal(-leader, "SIGTERM");
  for (let waitedMs = 0; waitedMs < killMs && hasMembers(leader); waitedMs += POLL_MS) await sleep(POLL_MS);
  signal(-leader, "SIGKILL");
  for (let waitedMs = 0; waitedMs < GONE_MS && hasMembers(leader); waitedMs += POLL_MS) await sleep(POLL_MS);
}

/** Whether any process of a group still runs. */
export function hasMembers(leader: number): boolean {
  if (!canSignal(-leader)) return false;
  const pids = processes();
  // Those that have ended and that nobody has asked about yet are members too, and may stay so for ever.
  return pids === undefined || pids.some((pid) => isMember(pid, leader));
}

/** Ends what has this in its environment, `NAME=value`, where the system tells. It may have left its group. */
export function endMarked(mark: string): void {
  for (const pid of processes() ?? []) {
    if (environmentOf(pid).includes(mark)) signal(pid, "SIGKILL");
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

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // None is left.
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

/** False for a process that has ended, and where the system does not tell. */
function isMember(pid: number, leader: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name comes second, in parentheses, and may hold anything.
    const [state = "", , group = ""] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return state !== "Z" && state !== "X" && Number(group) === leader;
  } catch {
    return false;
  }
}
