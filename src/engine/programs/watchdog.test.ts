import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { hasMembers } from "./started-program.ts";
import { Watchdog } from "./watchdog.ts";

/** A program that has started another one, and ends for nothing but `SIGKILL` if it is stubborn. */
function group(stubborn = false): ChildProcess & { readonly pid: number } {
  const script = `${stubborn ? "trap '' TERM;" : ""} sleep 600 & echo ready; wait; sleep 600`;
  const child = spawn("sh", ["-c", script], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
  return child as ChildProcess & { readonly pid: number };
}

const ENDED_BY = ["SIGTERM", "SIGKILL", "SIGTERM"];

test("the groups of a process that is gone are ended, but for those that it was done with", async () => {
  const all = [group(), group(true), group(), group()];
  await Promise.all(all.map(({ stdout }) => once(stdout as NonNullable<typeof stdout>, "data")));
  const [first, stubborn, between, last] = all.map(({ pid }) => pid) as [number, number, number, number];
  const signals = new Map(all.map(({ pid }) => [pid, ""]));
  for (const child of all) child.once("exit", (_, signal) => signals.set(child.pid, signal ?? ""));
  const dog = new Watchdog(0.2);
  for (const pid of [first, between, stubborn, last]) dog.watch(pid);
  dog.forget(between);
  dog.close();
  await eventually(() => expect([first, stubborn, last].map(hasMembers)).toEqual([false, false, false]));
  expect(hasMembers(between)).toBe(true);
  // Asked first, and made to only then.
  await eventually(() => expect([first, stubborn, last].map((pid) => signals.get(pid))).toEqual(ENDED_BY));
  process.kill(-between, "SIGKILL");
});
