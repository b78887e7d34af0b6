import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../testing/temp-dir.ts";
import { runProgram } from "./run-program.ts";
import { endLeftOver, markOf } from "./started-program.ts";

test("a program that starts others passes on the mark that it got, also through a shell, so that whoever started it can end them too", async () => {
  const end = await runProgram({
    program: "sh",
    args: ["-c", "sh -c env"],
    directory: tempDir(),
    environment: { PATH: process.env["PATH"], ASSAY_STARTED_before: "1" },
    input: "",
    limits: { outputBytes: 10_000, killMs: 50 },
    signal: AbortSignal.timeout(20_000),
  });
  const printed = end.type === "ended" ? end.stdout.toString("utf8") : "";
  expect(printed.match(/^ASSAY_STARTED_\w+=1$/gm)).toHaveLength(2);
});

test("the end of one program is not the end of another", async () => {
  const directory = tempDir();
  const shell = (script: string) =>
    runProgram({
      program: "sh",
      args: ["-c", script],
      directory,
      environment: { PATH: process.env["PATH"] },
      input: "",
      limits: { outputBytes: 1000, killMs: 50 },
      signal: AbortSignal.timeout(20_000),
    });
  const other = shell("until [ -e go ]; do sleep 0.02; done; echo alive");
  expect(await shell("true")).toMatchObject({ type: "ended", exitCode: 0 });
  writeFileSync(join(directory, "go"), "");
  expect(await other).toMatchObject({ type: "ended", exitCode: 0, stdout: Buffer.from("alive\n") });
});

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
