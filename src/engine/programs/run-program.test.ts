import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { tempDir } from "../../testing/temp-dir.ts";
import { runProgram } from "./run-program.ts";

/** This process does nothing at all for so long. */
function heldUp(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test("what a program said is not lost when this process is held up while it ends", async () => {
  const running = runProgram({
    program: "sh",
    args: ["-c", "sleep 0.4; echo said; echo aside >&3"],
    directory: tempDir(),
    environment: { PATH: process.env["PATH"] },
    input: "",
    limits: { outputBytes: 1000, sideBytes: 1000, killMs: 50 },
    signal: AbortSignal.timeout(20_000),
  });
  // The end of one child is the occasion on which the ends of all are noticed: here that of the program is, long before its pipes are looked into.
  const other = spawn("echo", ["now"], { stdio: ["ignore", "pipe", "ignore"] });
  other.stdout.once("data", () => heldUp(900));
  other.once("exit", () => setImmediate(heldUp, 400));
  const end = await running;
  const told = end.type === "ended" ? [end.stdout.toString("utf8"), end.side.toString("utf8")] : end.type;
  expect(told).toEqual(["said\n", "aside\n"]);
});
