import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { assay, start } from "../cli/assay.ts";
import { provide, provided, request } from "./provide.ts";

const UNKNOWN = "ses_0123456789abABCDEFGHIJKLMN";
const USAGE = /Usage: assay review provide/;

describe("what keeps a request from being answered", () => {
  const good = request(1);
  test.concurrent.each<[string, string, readonly string[], string | RegExp]>([
    ["no input", "", [], "Error: You must provide a message or a command\n"],
    ["only blanks", " \n\t\ufeff\r\n", [], "Error: You must provide a message or a command\n"],
    ["a first word run and no other", "", ["run"], "Error: You must provide a message or a command\n"],
    ["an unknown session", good, ["--session", UNKNOWN], "Error: Session not found\n"],
    ["a malformed session", good, ["-s", "../../etc"], "Error: Session not found\n"],
    ["an empty session", good, ["--session", ""], "Error: Session not found\n"],
    ["an empty session in one word", good, ["--session="], "Error: Session not found\n"],
    ["a fork of nothing", good, ["--fork"], "Error: --fork requires --continue or --session\n"],
    ["a fork of an unknown session", good, ["--fork", "-s", UNKNOWN], "Error: Session not found\n"],
    ["an unknown flag", good, ["--thinking"], USAGE],
    ["a format that there is not", good, ["--format", "yaml"], USAGE],
    ["a flag without its value", good, ["--session"], USAGE],
    ["an argument for no program", good, ["--arg", "x"], "Error: --arg requires --reviewer-command\n"],
  ])("%s is said on standard error, with exit code 1 and nothing on standard output", async (_, input, args, said) => {
    const state = tempDir();
    const { code, stdout, stderr } = await provide(state, input, args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    if (typeof said === "string") expect(stderr).toBe(said);
    else expect(stderr).toMatch(said);
    expect(readdirSync(state)).toEqual([]);
  });

  test.concurrent("a state directory that cannot be used is one error message, and is named", async () => {
    const file = join(tempDir(), "file");
    writeFileSync(file, "");
    const { code, stderr, messages } = await provide(file, good);
    expect(code).toBe(1);
    expect(messages).toMatchObject([{ type: "error", error: { data: { message: expect.stringContaining(file) } } }]);
    expect(messages[0]).not.toHaveProperty("part");
    expect(stderr).toContain(file);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

describe("the flags of the command that it stands in for", () => {
  test.concurrent("are all taken, and those without meaning here are ignored", async () => {
    const args = ["run", "--agent", "qualitative-reviewer", "--title", "t", "--model", "a/b", "--dir", "/nowhere"];
    const { code, stderr, answer } = await provide(tempDir(), request(1), args);
    expect({ code, stderr, status: answer.status }).toEqual({ code: 0, stderr: "", status: "success" });
  });

  test.concurrent("put words before the input", async () => {
    const whole = request(1);
    const { answer } = await provide(tempDir(), whole.slice(whole.indexOf(",") + 1), [
      '{"protocol_version":',
      '"1.2",',
    ]);
    expect(answer.status).toBe("success");
  });

  test.concurrent("join words by blanks, and set them off from the input by a line break", async () => {
    const begun = '{"protocol_version":"1.2","iteration":1,"artifact":{"media_type":"text/plain","content":"TODO: ask';
    const { answer } = await provide(tempDir(), "}}", [begun, 'Ada"']);
    expect(answer.feedback.areas_for_improvement[0].description).toContain("TODO: ask Ada");
    // A text of JSON cannot go on in another line.
    const broken = await provide(tempDir(), 'Ada"}}', [begun]);
    expect(broken.answer.error.code).toBe("INVALID_REQUEST");
  });

  test.concurrent("take words alone, which are no request", async () => {
    const { code, answer } = await provide(tempDir(), "", ["please", "review", "it"]);
    expect(code).toBe(0);
    expect(answer.error.code).toBe("INVALID_REQUEST");
  });

  test.concurrent("name an agent that nobody knows, and another answers", async () => {
    const { code, stderr, answer } = await provide(tempDir(), request(1), ["--agent", "nobody"]);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: '! agent "nobody" not found. Falling back to default agent\n',
    });
    expect(answer.status).toBe("success");
  });

  test.concurrent("print the answer alone unless JSON lines are asked for", async () => {
    for (const format of [[], ["--format", "default"]]) {
      const args = ["review", "provide", "--state", tempDir(), ...format];
      const { code, stdout } = await assay(args, { stdin: request(1) });
      expect(code).toBe(0);
      expect(stdout.split("\n")).toHaveLength(2);
      expect(JSON.parse(stdout)).toMatchObject({ status: "success", iteration: 1 });
    }
  });

  test.concurrent("go on with the last session, or a copy of it, from any directory", async () => {
    const state = tempDir();
    const begun = await provide(state, request(1));
    const other = await provide(state, request(1));
    const last = await provide(state, request(2), ["-c"]);
    expect(last.sessionID).toBe(other.sessionID);
    const named = await provide(state, request(2), ["--session", begun.sessionID]);
    expect(named).toMatchObject({ sessionID: begun.sessionID, answer: { iteration: 2, status: "success" } });
    const forked = await provide(state, request(3), ["--continue", "--fork"]);
    expect([begun.sessionID, other.sessionID]).not.toContain(forked.sessionID);
    expect(forked.answer["x-warnings"]).toBeUndefined();
    expect(readdirSync(state)).toHaveLength(3);
  });

  test.concurrent("begin a session where there is none to go on with", async () => {
    expect((await provide(tempDir(), request(1), ["--continue"])).answer.status).toBe("success");
  });
});

test("without a state directory, sessions live in the home directory", async () => {
  const home = tempDir();
  const { code } = await assay(["review", "provide"], { stdin: request(1), env: { HOME: home } });
  expect(code).toBe(0);
  expect(readdirSync(join(home, ".assay", "review-sessions"))).toHaveLength(1);
});

describe("input of any kind", () => {
  test.concurrent("larger than allowed is read to its end and answered", async () => {
    const { code, answer } = await provide(tempDir(), request(1, "a".repeat(17 * 1024 * 1024)));
    expect({ code, error: answer.error.code }).toEqual({ code: 0, error: "INVALID_REQUEST" });
  });

  test.concurrent("that is not UTF-8 is answered", async () => {
    const { answer } = await provide(tempDir(), Uint8Array.of(0xff, 0xfe, 0x7b));
    expect(answer.error).toMatchObject({ code: "INVALID_REQUEST", message: expect.stringContaining("UTF-8") });
  });
});

/** Prints a review whose summary is as long as it is told, or does what else it is told. */
function program(body: string): string {
  const path = join(tempDir(), "reviewer.mjs");
  writeFileSync(path, body);
  return path;
}

const reviewedBy = (path: string, ...more: string[]) => [
  "--reviewer-command",
  process.execPath,
  `--arg=${path}`,
  ...more,
];

test("a long answer reaches a reader that is slow to begin, whole", async () => {
  const long = program(
    `console.log(JSON.stringify({ areas_for_improvement: [], general_summary: "é".repeat(1_000_000) }));`,
  );
  const bin = fileURLToPath(new URL("../../bin/assay.js", import.meta.url));
  const args = [bin, "review", "provide", "--state", tempDir(), "--format", "json", ...reviewedBy(long)];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(request(1));
  // Nothing is read until the process has long filled the pipe.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  const [code] = await once(child, "close");
  const { messages, answer } = provided({ code, stdout, stderr: "" });
  expect(code).toBe(0);
  expect(messages).toHaveLength(3);
  expect(answer.feedback.general_summary).toHaveLength(1_000_000);
});

describe("two calls on one session", () => {
  test("wait for each other; the one that waits too long is told", async () => {
    const state = tempDir();
    const signs = tempDir();
    const [begun, goOn] = [join(signs, "begun"), join(signs, "go-on")];
    const first = await provide(state, request(1));
    const held = program(`
      import { existsSync, writeFileSync } from "node:fs";
      writeFileSync(${JSON.stringify(begun)}, "");
      const wait = setInterval(() => {
        if (!existsSync(${JSON.stringify(goOn)})) return;
        clearInterval(wait);
        console.log(JSON.stringify({ areas_for_improvement: [], general_summary: "held" }));
      }, 10);`);
    const slow = provide(state, request(2), ["-s", first.sessionID, ...reviewedBy(held)]);
    await expect.poll(() => readdirSync(signs), { timeout: 30_000 }).toEqual(["begun"]);
    const busy = await provide(state, request(3), ["-s", first.sessionID, "--busy-ms", "50"]);
    expect(busy).toMatchObject({ code: 1, stdout: "", stderr: "Error: Session is busy\n" });
    const patient = provide(state, request(3), ["-s", first.sessionID]);
    writeFileSync(goOn, "");
    expect((await slow).answer.feedback.general_summary).toBe("held");
    expect((await patient).answer).toMatchObject({ status: "success", iteration: 3 });
    expect((await patient).answer["x-warnings"]).toBeUndefined();
  });
});

describe("a program that reviews", () => {
  test.concurrent("gets the request and the conversation, and its remarks can be decided on", async () => {
    const state = tempDir();
    const seen = join(tempDir(), "seen.json");
    const path = program(`
      import { readFileSync, writeFileSync } from "node:fs";
      const input = readFileSync(0, "utf8");
      writeFileSync(${JSON.stringify(seen)}, input);
      console.log(JSON.stringify({
        areas_for_improvement: [{ aspect: "cost", description: "No cost.", recommendation: "Add it." }],
        general_summary: "Nearly.",
      }));`);
    const first = await provide(state, request(1), reviewedBy(path));
    const [{ id }] = first.answer.feedback.areas_for_improvement;
    expect(id).toMatch(/^[a-z0-9._-]{8,128}$/);
    const decided = { applied_feedback: { items: [{ id, status: "accepted" }] } };
    const next = await provide(state, request(2, "x", decided), ["-s", first.sessionID, ...reviewedBy(path)]);
    expect(next.answer.applied_feedback_ack.items).toEqual([{ id, processing_status: "acknowledged" }]);
    expect(next.answer.feedback.areas_for_improvement).toMatchObject([{ id, "x-reopened": true }]);
    const input = JSON.parse(readFileSync(seen, "utf8"));
    expect(input).toMatchObject({ request: { iteration: 2 }, session: { last: 1, issued: [{ id }] } });
    expect(input.session).not.toHaveProperty("sessionID");
  });

  test.concurrent("does not see our keys", async () => {
    const path = program(`
      const seen = Object.keys(process.env).filter((name) => name.startsWith("ASSAY_"));
      console.log(JSON.stringify({ areas_for_improvement: [], general_summary: seen.join() }));`);
    const env = { ASSAY_KEY: "k".repeat(20), ASSAY_DATABASE_URL: "postgres://a:b@c/d", ASSAY_LOG_LEVEL: "info" };
    const { answer } = await provide(tempDir(), request(1), reviewedBy(path), env);
    // The second names the call, so that whatever the program starts can be found and ended.
    expect(answer.feedback.general_summary.split(",").sort()).toEqual([
      "ASSAY_LOG_LEVEL",
      expect.stringMatching(/^ASSAY_STARTED_/),
    ]);
  });

  test.concurrent("and fails is an error answer that says nothing of how, and a line that does", async () => {
    const path = program(`console.error("the secret place is /srv/x"); process.exit(3);`);
    const { code, answer, stderr } = await provide(tempDir(), request(1), reviewedBy(path));
    expect(code).toBe(0);
    expect(answer.error).toEqual({ code: "INTERNAL_ERROR", message: "the review could not be made" });
    expect(stderr).toContain("exit code 3: the secret place is /srv/x");
  });

  test.concurrent("and never ends is ended, and the answer says that it took too long", async () => {
    const path = program(`process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);`);
    const { code, answer } = await provide(tempDir(), request(1), reviewedBy(path, "--review-timeout-ms", "300"));
    expect({ code, message: answer.error.message }).toEqual({ code: 0, message: "the review took too long" });
  });
});

test("a call that is killed in the middle of a review leaves the session as it was", async () => {
  const state = tempDir();
  const first = await provide(state, request(1, "TODO: say it"));
  const file = join(state, first.sessionID, "session.json");
  const before = readFileSync(file, "utf8");
  const begun = join(tempDir(), "begun");
  mkdirSync(begun);
  const endless = program(`
    import { writeFileSync } from "node:fs";
    writeFileSync(${JSON.stringify(join(begun, "x"))}, "");
    setTimeout(() => {}, 20_000);`);
  const args = ["review", "provide", "--state", state, "-s", first.sessionID, ...reviewedBy(endless)];
  const running = start(args, { stdin: "" });
  running.child.stdin?.end(request(2));
  await expect.poll(() => readdirSync(begun).length, { timeout: 30_000 }).toBe(1);
  running.child.kill("SIGKILL");
  await running.ended;
  expect(readFileSync(file, "utf8")).toBe(before);
  const again = await provide(state, request(2), ["-s", first.sessionID]);
  expect(again.answer).toMatchObject({ status: "success", iteration: 2 });
});
