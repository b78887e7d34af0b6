import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { endLeftOver, markOf } from "./process-group.ts";

test.runIf(existsSync("/proc/self/stat"))(
  "what a crash left is ended, and nobody who got its number since",
  async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
    const exited = once(child, "exit");
    await once(child, "spawn");
    const mark = markOf(child.pid ?? 0);
    await endLeftOver({ ...mark, started: "1" }, 100);
    await endLeftOver({ ...mark, started: "" }, 100);
    expect(markOf(mark.pid)).toEqual(mark);
    await endLeftOver(mark, 100);
    await exited;
    expect(child.signalCode).toMatch(/^SIG(TERM|KILL)$/);
  },
);
