import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { eventually } from "../../testing/eventually.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { DEFAULT_LIMITS } from "./carrier.ts";
import { runToFile } from "./run-command.ts";

const WATCH = { take: () => {}, lines: 0, answered: false };
const limits = { ...DEFAULT_LIMITS, killMs: 100 };

function called(folder: string, program: string, ...args: string[]) {
  return { program, args, directory: folder, environment: { PATH: process.env["PATH"] }, input: "" };
}

test("a program does not outlive a failure of whoever started it", async () => {
  const folder = tempDir();
  const program = called(
    folder,
    process.execPath,
    "-e",
    "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);",
  );
  let started = 0;
  const onStarted = (pid: number) => {
    started = pid;
    throw new Error("the disk is full");
  };
  const { signal } = new AbortController();
  const following = { streamPath: join(folder, "stream"), watch: WATCH, signal, onStarted };
  await expect(runToFile(program, following, limits)).rejects.toThrow("the disk is full");
  expect(started).toBeGreaterThan(0);
  expect(() => process.kill(started, 0)).toThrow("ESRCH");
});

test.runIf(existsSync("/proc/self/environ"))(
  "what leaves its group and starts others in turn is ended too",
  async () => {
    const folder = tempDir();
    const log = join(folder, "log");
    // Each starts the next, in a group of its own, and ends; a thousand times, should nobody stop them.
    const script = join(folder, "next.sh");
    writeFileSync(script, `echo $1 >> ${log}\nsleep 0.01\n[ $1 -lt 1000 ] && setsid sh ${script} $(($1 + 1)) &\n`);
    const program = called(folder, "sh", "-c", `sh ${script} 1; sleep 60`);
    const stop = new AbortController();
    const following = { streamPath: join(folder, "stream"), watch: WATCH, signal: stop.signal };
    const running = runToFile(program, following, limits);
    await eventually(() => expect(readFileSync(log, "utf8").split("\n").length).toBeGreaterThan(10));
    stop.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    const begun = readFileSync(log, "utf8");
    await sleep(100);
    expect(readFileSync(log, "utf8")).toBe(begun);
  },
);
