import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { REMARK_ID } from "../../formats/reviews/response.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { newSession } from "../provider/session.ts";
import { commandReviewer, readCommandAnswer } from "./command-reviewer.ts";

const area = (more: object = {}) => ({ aspect: "cost", description: "No cost.", recommendation: "Add it.", ...more });
const answer = (...areas_for_improvement: object[]) => JSON.stringify({ areas_for_improvement, general_summary: "so" });

function remarks(...areas: object[]) {
  const read = readCommandAnswer(answer(...areas));
  if (!read.ok) throw new Error(read.problem);
  return read.review.remarks;
}

describe("what a reviewing program prints", () => {
  test("is taken with its own ids where they can be used", () => {
    expect(remarks(area({ id: "cost-missing-1" }))[0]).toMatchObject({ id: "cost-missing-1", aspect: "cost" });
  });

  test("gets ids from what the remarks say where it gives none, and from its own where they are malformed", () => {
    const [none, blank, bad] = remarks(area(), area({ id: " ", description: "Other." }), area({ id: "Bad Id!" }));
    for (const { id } of [none, blank, bad].filter((one) => one !== undefined)) expect(id).toMatch(REMARK_ID);
    expect(remarks(area({ recommendation: "In other words." }))[0]?.id).toBe(none?.id);
    expect(remarks(area({ id: "Bad Id!", description: "In other words." }))[0]?.id).toBe(bad?.id);
    expect(bad?.id).not.toBe(none?.id);
  });

  test("has ids that can be told apart, also when it repeats them", () => {
    const long = "a".repeat(128);
    const ids = remarks(area({ id: long }), area({ id: long }), area(), area()).map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
    for (const id of ids) expect(id).toMatch(REMARK_ID);
  });

  test("stands for the part it names, else for its own words", () => {
    const part = (more: object) => remarks(area(more))[0]?.part;
    expect(part({ part: "# A", description: "x" })).toBe(part({ part: "# A", description: "y" }));
    expect(part({ description: "x" })).not.toBe(part({ description: "y" }));
  });

  test("says that nothing is known of its confidence when it does not say", () => {
    const read = readCommandAnswer(answer());
    expect(read.ok && read.review.confidence.level).toBe("medium");
  });

  test.each([
    ["", "not JSON"],
    ["null", "object"],
    ["{}", "areas_for_improvement"],
    [JSON.stringify({ areas_for_improvement: [{}], general_summary: "x" }), "areas_for_improvement"],
    [JSON.stringify({ areas_for_improvement: [] }), "general_summary"],
    [JSON.stringify({ areas_for_improvement: [], general_summary: "x", confidence: { level: "sure" } }), "confidence"],
  ])("is refused with the reason: %s", (text, reason) => {
    expect(readCommandAnswer(text)).toMatchObject({ ok: false, problem: expect.stringContaining(reason) });
  });
});

/** What a program in Node makes of a long artifact: the summary of its review. */
async function run(source: string, more: { signal?: AbortSignal; outputBytes?: number; program?: string } = {}) {
  const { program = process.execPath, outputBytes = 1_000_000 } = more;
  const reviewer = commandReviewer({
    program,
    args: ["--input-type=module", "--eval", source],
    directory: tempDir(),
    environment: {},
    reviews: () => true,
    limits: { outputBytes, killMs: 50 },
  });
  const artifact = { media_type: "text/plain", content: "x".repeat(1_000_000) };
  const { general_summary } = await reviewer.review({
    request: { protocol_version: "1.2", iteration: 1, artifact },
    session: newSession("ses_1"),
    decisions: [],
    // A test that fails must not leave it running.
    signal: more.signal ?? AbortSignal.timeout(20_000),
  });
  return general_summary;
}

const DONE = `console.log(${JSON.stringify(answer())});`;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

/** Starts a process that ignores being asked to end, and writes its number. */
const withChild = (file: string, then: string, detached = false) => `
  import { spawn } from "node:child_process";
  import { writeFileSync } from "node:fs";
  const child = spawn(process.execPath, ["--eval", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"], { stdio: "inherit", detached: ${detached} });
  writeFileSync(${JSON.stringify(file)}, String(child.pid));
  child.unref();
  ${then}`;

describe("a program", () => {
  test("may leave its input unread", async () => {
    expect(await run(`${DONE} process.exit(0);`)).toBe("so");
  });

  test("that prints something else has failed", async () => {
    await expect(run(`console.log("done");`)).rejects.toThrow("gave no usable review");
  });

  test("that cannot be started is named", async () => {
    await expect(run("", { program: "/no/such/program" })).rejects.toMatchObject({
      code: "unusable_input",
      message: expect.stringContaining("/no/such/program cannot be started"),
    });
  });

  test("that is ended by a signal has failed", async () => {
    await expect(run(`process.kill(process.pid, "SIGKILL")`)).rejects.toThrow("SIGKILL");
  });

  test("that prints without end is stopped", async () => {
    const endless = run(`const go = () => process.stdout.write("x".repeat(65536), go); go();`);
    await expect(endless).rejects.toThrow("printed more than 1000000 bytes");
  });

  test.each([
    ["when it has ended", `${DONE} setTimeout(() => process.exit(0), 50);`, false],
    ["when nobody waits any longer", "setInterval(() => {}, 1000);", true],
  ])("leaves no process behind %s", async (_, then, isStopped) => {
    const file = join(tempDir(), "pid");
    const stop = new AbortController();
    const running = run(withChild(file, then), { signal: stop.signal });
    running.catch(() => {});
    await expect.poll(() => pidIn(file), { timeout: 20_000 }).toBeGreaterThan(0);
    if (isStopped) {
      stop.abort();
      await expect(running).rejects.toThrow("not waited for");
    } else await running;
    await expect.poll(() => isAlive(pidIn(file)), { timeout: 10_000 }).toBe(false);
  });

  test("that ends well may leave a service behind", async () => {
    const file = join(tempDir(), "pid");
    await run(withChild(file, `${DONE} setTimeout(() => process.exit(0), 50);`, true));
    expect(isAlive(pidIn(file))).toBe(true);
    process.kill(pidIn(file), "SIGKILL");
  });

  // Elsewhere nobody can tell whose child it was.
  test.runIf(existsSync("/proc/self"))("that fails leaves no process behind that went its own way", async () => {
    const file = join(tempDir(), "pid");
    await expect(run(withChild(file, "process.exit(3);", true))).rejects.toThrow("exit code 3");
    await expect.poll(() => isAlive(pidIn(file)), { timeout: 10_000 }).toBe(false);
  });
});

function pidIn(file: string): number {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return 0;
  }
}
