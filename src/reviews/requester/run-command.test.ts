import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { mediaTypeOfFile } from "../../formats/reviews/media-types.ts";
import { eventually } from "../../testing/eventually.ts";
import { DEFAULT_LIMITS } from "../../testing/review-builders.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { newReviewName } from "./reviews-folder.ts";
import { commandArguments, commandLine, isForked, isUsableSession, runToFile } from "./run-command.ts";

const turn = { directory: "/work", title: "Review of plan.md", session: undefined };

describe("the command", () => {
  test("is the real one unless another is given, and knows its directory", () => {
    const command = commandLine({ args: [] });
    const first = [
      "run",
      "--agent",
      "qualitative-reviewer",
      "--format",
      "json",
      "--dir",
      "/work",
      "--title",
      "Review of plan.md",
    ];
    expect(command.program).toBe("opencode");
    expect(commandArguments(command, turn)).toEqual(first);
    expect(commandArguments(command, { ...turn, session: "ses_1" })).toEqual([...first, "--session", "ses_1"]);
  });

  test("that is another one is asked for no more than it is sure to know", () => {
    const command = commandLine({ program: "./reviewer", args: ["--fast"], agent: "strict" });
    expect(commandArguments(command, turn)).toEqual(["--fast", "--agent", "strict", "--format", "json"]);
    const knowing = commandLine({ program: "./reviewer", args: [], takes_directory: true });
    expect(commandArguments(knowing, turn)).toContain("--title");
  });

  test("is the real one under any path", () => {
    expect(commandLine({ program: "/opt/bin/opencode", args: [] })).toMatchObject({
      args: ["run"],
      takes_directory: true,
    });
    expect(commandLine({ program: "opencode", args: ["run", "--model", "m"] }).args).toEqual(["run", "--model", "m"]);
  });

  test("that copies a session gets another one back", () => {
    expect([["--fork"], []].map((args) => isForked(commandLine({ program: "x", args })))).toEqual([true, false]);
  });
});

test.each([
  ["ses_0123", true],
  ["x".repeat(256), true],
  ["x".repeat(257), false],
  ["", false],
  ["-s", false],
  ["a b", false],
  ["a\u0000b", false],
  ["a\u00a0b", false],
  ["a\u0085", false],
])("the session %j can be passed on: %s", (session, isUsable) => expect(isUsableSession(session)).toBe(isUsable));

test.each([
  ["plan.MD", "text/markdown"],
  ["a/b.json", "application/json"],
  ["x.ts", "application/typescript"],
  ["Makefile", "text/plain"],
  ["x.constructor", "text/plain"],
])("a file called %s holds %s", (path, type) => expect(mediaTypeOfFile(path)).toBe(type));

test("a review is called after its file, and as no other", () => {
  const random = Uint8Array.from([0, 1, 2, 3, 4, 255]);
  expect(newReviewName("/x/Große Pläne.md", random)).toMatch(/^gro-e-pl-ne-md-[a-z2-9]{6}$/);
  expect(newReviewName("…", random)).toMatch(/^review-[a-z2-9]{6}$/);
});

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
