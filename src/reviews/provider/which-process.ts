import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { codeOf } from "./error-code.ts";

export interface WhichProcess {
  readonly pid: number;
  /** The scope of the process id: the machine, and the container on it. */
  readonly where: string;
  /** When it began, by the system's own count, since numbers are used again. Absent where the system does not say. */
  readonly began?: string;
}

export async function thisProcess(): Promise<WhichProcess> {
  const seen = await seenBySystem(process.pid);
  return { pid: process.pid, where: await here(), ...(seen === undefined ? {} : { began: seen.began }) };
}

/** Undefined when this process cannot find out. */
export async function hasEnded({ pid, where, began }: WhichProcess): Promise<boolean | undefined> {
  if (where !== (await here())) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Processes of other users are alive too.
    return codeOf(error) === "ESRCH";
  }
  const seen = await seenBySystem(pid);
  if (seen === undefined) return false;
  return seen.isZombie || (began !== undefined && seen.began !== began);
}

async function here(): Promise<string> {
  const container = await readlink("/proc/self/ns/pid").catch(() => "");
  return `${hostname()} ${container}`.trim();
}

async function seenBySystem(pid: number): Promise<{ began: string; isZombie: boolean } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // The name of the program is in brackets and may contain any character.
  const fields = text?.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, began] = [fields?.[0], fields?.[19]];
  return state === undefined || began === undefined ? undefined : { began, isZombie: state === "Z" };
}
