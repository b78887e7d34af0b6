import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { environmentNameOf, SETTINGS, type SettingName } from "../../cli/settings/settings.ts";
import { childEnvironment } from "../../engine/programs/child-environment.ts";
import { scrubber } from "../../formats/secrets/scrub.ts";
import { agentTask, watched } from "../../testing/agent-task.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import type { AgentTask } from "../binding.ts";
import { COMMAND_DEFAULTS, type CommandSettings, commandBinding } from "./command.ts";

interface Asked extends Partial<CommandSettings> {
  readonly environment?: Record<string, string>;
  readonly task?: Partial<AgentTask>;
}

const SCRUBBER = scrubber();

/** A program in Node. */
function agent(source: string, { environment = {}, ...settings }: Asked = {}) {
  return commandBinding(
    {
      ...COMMAND_DEFAULTS,
      program: process.execPath,
      args: ["--input-type=module", "--eval", source],
      directory: tempDir(),
      killMs: 50,
      ...settings,
    },
    {
      environment: { ...(process.env as Record<string, string>), ...environment },
      scrubText: (text) => SCRUBBER.scrubText(text).replaceAll("s3cret", "[REDACTED]"),
    },
  );
}
const run = (source: string, asked: Asked = {}) => watched(agent(source, asked), asked.task);
const answer = async (source: string, asked: Asked = {}) => (await run(source, asked)).answer;

const shell = (script: string, asked: Asked = {}) =>
  watched(agent("", { program: "sh", args: ["-c", script], ...asked }), asked.task);

describe("a program that is an agent", () => {
  test("is given its input as one line of JSON on stdin and nothing else, and what it prints is its output", async () => {
    const task = { input: { text: "a\nb", deep: [1, { x: null }] } };
    const { answer } = await shell("cat; echo", { task });
    expect(answer).toEqual({ type: "completed", output: task.input });
    const raw = await shell("od -An -c | tr -d ' \\n'", { task: { input: "a\nb" } });
    expect(raw.answer).toEqual({ type: "completed", output: '"a\\nb"\\n' });
  });

  test.each([
    ["echo 42", 42],
    ["echo '{\"a\": [true]}'", { a: [true] }],
    ["echo '\"quoted\"'", "quoted"],
    ["printf '\\n  plain words \\n\\n'", "plain words"],
    ["printf '{\"broken\": '", '{"broken":'],
    ["true", ""],
  ])("answers %s as JSON where it is JSON, else as trimmed text", async (script, output) => {
    expect((await shell(script)).answer).toEqual({ type: "completed", output });
  });

  test("learns the ids of its task from the environment, and only those there are", async () => {
    const script = 'echo "$ASSAY_TASK_ID/$ASSAY_RUN_ID/$' + '{ASSAY_TRIAL-none}"';
    const environment = { ASSAY_TRIAL: "9", ASSAY_TASK_ID: "outer" };
    const ids = { taskId: "t1", runId: "run-7", trial: 2 };
    expect((await shell(script, { environment, task: ids })).answer).toMatchObject({ output: "t1/run-7/2" });
    expect((await shell(script, { environment })).answer).toMatchObject({ output: "/run-1/none" });
  });

  test("on one's own machine inherits the environment without Assay's own keys and database settings", async () => {
    const secret = (Object.keys(SETTINGS) as SettingName[]).filter((name) => "secret" in SETTINGS[name]);
    const named = [...secret, "keys", "auditKey", "data", "reviewModelKeyEnv"] as SettingName[];
    // Those that are no settings yet are named like this.
    const likely = ["ASSAY_REVIEW_TOKEN", "ASSAY_SMTP_PASSWORD", "ASSAY_WEBHOOK_SECRET", "ASSAY_OTLP_HEADERS"];
    const own = [...named.map(environmentNameOf), ...likely];
    expect(own.length).toBeGreaterThan(10);
    const environment = { ...Object.fromEntries(own.map((name) => [name, "x"])), OPENAI_API_KEY: "k", ASSAY_PORT: "1" };
    const inherited = childEnvironment({ ...environment, ASSAY_REVIEW_MODEL_KEY: "x" });
    const { answer } = await shell("env", { environment: inherited });
    const names = String((answer as { output: unknown }).output)
      .split("\n")
      .map((line) => line.split("=")[0]);
    expect(names).toEqual(expect.arrayContaining(["OPENAI_API_KEY", "ASSAY_PORT", "PATH", "ASSAY_RUN_ID"]));
    expect(names.filter((name) => own.includes(name ?? "") || name === "ASSAY_REVIEW_MODEL_KEY")).toEqual([]);
  });

  test("runs in its own folder", async () => {
    const directory = tempDir();
    expect((await shell("pwd -P", { directory })).answer).toMatchObject({ output: directory });
  });

  test("has a fingerprint only when somebody says which version it is", () => {
    expect(agent("1").fingerprint).toBeUndefined();
    const one = agent("1", { version: "1" }).fingerprint;
    expect(one).toBe(agent("1", { version: "1" }).fingerprint);
    expect(one).not.toBe(agent("1", { version: "2" }).fingerprint);
  });
});

describe("a report on file descriptor 3", () => {
  const report = (line: string) => shell(`cat > /dev/null; echo done; echo '${line}' >&3`);

  test("names no provider and no model that looks like a secret", async () => {
    const { usage } = await report('{"inputTokens":1,"provider":"password=tulip-in-may","model":"s3cret"}');
    expect(usage).toMatchObject([{ provider: "password=[REDACTED]", model: "[REDACTED]" }]);
  });

  test("is usage and cost, in the names of either API", async () => {
    const { usage, answer } = await report('{"inputTokens":10,"outputTokens":5,"costUsd":0.002,"model":"m"}');
    expect(usage).toEqual([{ provider: "command", model: "m", inputTokens: 10, outputTokens: 5, costUsd: 0.002 }]);
    expect(answer).toEqual({ type: "completed", output: "done" });
    const openai = await report('{"usage":{"prompt_tokens":1,"completion_tokens":2}}');
    expect(openai.usage).toEqual([{ provider: "command", model: "sh", inputTokens: 1, outputTokens: 2 }]);
    const anthropic = await report('{"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3}');
    expect(anthropic.usage).toMatchObject([{ inputTokens: 1, outputTokens: 2, cacheReadTokens: 3 }]);
  });

  test("may be a line for each call, and may say how sure it is", async () => {
    const { usage, answer } = await shell(`echo x; printf '{"costUsd":1}\\n\\n{"costUsd":2,"confidence":0.4}' >&3`);
    expect(usage.map(({ costUsd }) => costUsd)).toEqual([1, 2]);
    expect(answer).toEqual({ type: "completed", output: "x", confidence: 0.4 });
  });

  test("is counted also when the program fails afterwards", async () => {
    const { usage, answer } = await shell(`echo '{"costUsd":1}' >&3; exit 3`);
    expect(usage).toHaveLength(1);
    expect(answer).toMatchObject({ error: { code: "agent_crashed" } });
  });

  test.each([
    ["not json", "not JSON"],
    ["[]", "not a JSON object"],
    ['{"costUsd":"free"}', "costUsd is not an amount"],
    ['{"costUsd":1e308}', "costUsd is not an amount"],
    ['{"inputTokens":-1}', "inputTokens is not a count"],
    ['{"usage":7}', "usage is not an object"],
    ['{"confidence":7}', "confidence is not a number from 0 to 1"],
  ])("that cannot be read fails the call, since a budget would count wrong: %s", async (line, problem) => {
    expect((await report(line)).answer).toMatchObject({
      type: "failed",
      error: { code: "agent_output_invalid", message: expect.stringContaining(problem), retryable: false },
    });
  });

  test("is bounded", async () => {
    expect((await shell("yes '{}' >&3")).answer).toMatchObject({
      error: { code: "agent_output_too_large", message: expect.stringContaining("file descriptor 3") },
    });
  });
});

describe("a program that goes wrong", () => {
  test("has crashed when it ends with anything but 0, and is quoted without secrets, its last words only", async () => {
    const { answer } = await shell("echo out; yes noise | head -c 100000 >&2; echo 'could not: s3cret' >&2; exit 7");
    const { error } = answer as { error: { code: string; message: string } };
    expect(error).toMatchObject({ code: "agent_crashed", retryable: true });
    expect(error.message).toContain("sh ended with exit code 7: ");
    expect(error.message).toContain("could not: [REDACTED]");
    expect(error.message.length).toBeLessThan(3000);
  });

  test("is quoted without the rest of a secret that begins before the quotation", async () => {
    const key = `-----BEGIN RSA PRIVATE KEY-----\n${"MIIEpAIBAAKCAQEA0Z3kettle\n".repeat(120)}-----END RSA PRIVATE KEY-----`;
    const wrote = (text: string) => `process.stderr.write(${JSON.stringify(text)}); process.exitCode = 3;`;
    const message = async (text: string) => JSON.stringify(await answer(wrote(text)));
    const whole = await message(`no entry for\n${key}\nat the end`);
    expect(whole).toContain("at the end");
    expect(whole).not.toContain("kettle");
    const word = await message(`tried word-kettle-word-kettle ${"y ".repeat(995)}`);
    expect(word).toContain("y y y");
    expect(word).not.toContain("kettle");
  });

  test("has crashed when a signal ends it", async () => {
    expect(await answer(`process.kill(process.pid, "SIGKILL")`)).toMatchObject({
      error: { code: "agent_crashed", message: expect.stringContaining("signal SIGKILL") },
    });
  });

  test.each([
    ["/no/such/program", "there is no such program"],
    ["/etc/passwd", "it may not be executed"],
    ["a\u0000b", "cannot be started"],
  ])("that cannot be started is named: %s", async (program, message) => {
    expect((await watched(agent("", { program }))).answer).toMatchObject({
      error: { code: "agent_unreachable", message: expect.stringContaining(message), retryable: false },
    });
  });

  test("that has no folder to run in is told so", async () => {
    expect(await answer("1", { directory: "/no/such/folder" })).toMatchObject({
      error: { message: expect.stringContaining("there is no directory /no/such/folder") },
    });
  });

  test("may leave its input unread, or close it", async () => {
    const input = "x".repeat(3_000_000);
    expect((await shell("exec <&-; echo done", { task: { input } })).answer).toMatchObject({ output: "done" });
  });

  test("that prints megabytes is ended", async () => {
    expect((await shell("yes", { maxOutputBytes: 1_000_000 })).answer).toMatchObject({
      error: { code: "agent_output_too_large", message: expect.stringContaining("1000000 bytes to stdout") },
    });
    expect((await shell("printf 1234", { maxOutputBytes: 4 })).answer).toMatchObject({ output: 1234 });
    expect((await shell("printf 12345", { maxOutputBytes: 4 })).answer).toMatchObject({ type: "failed" });
  });

  test("that prints garbage or an abyss gives no output", async () => {
    expect((await shell("printf '\\377\\376'")).answer).toMatchObject({ error: { code: "agent_output_invalid" } });
    const abyss = `process.stdout.write("[".repeat(200_000) + "]".repeat(200_000))`;
    expect(await answer(abyss)).toMatchObject({
      error: { code: "agent_output_invalid", message: expect.stringContaining("64 levels") },
    });
    const crowd = (size: number) => `process.stdout.write("[" + "[],".repeat(${size}) + "[]]")`;
    expect(await answer(crowd(100_000))).toMatchObject({
      error: { code: "agent_output_invalid", message: expect.stringContaining("more than 100000 values") },
    });
    expect(await answer(crowd(99_998))).toMatchObject({ type: "completed" });
    expect(await answer(String.raw`process.stdout.write('{"a":"\\ud800","b":1e999}')`)).toMatchObject({
      output: { a: "\ufffd", b: null },
    });
  });
});

/** A program that starts others: one in its group that ignores being asked to end, and one that leaves its group. */
const family = (folder: string, then: string) => `
  import { spawn } from "node:child_process";
  import { writeFileSync } from "node:fs";
  const stubborn = "process.on('SIGTERM', () => {}); console.log('x'); setInterval(() => {}, 1000)";
  const pids = [false, true].map((detached) => {
    const child = spawn(process.execPath, ["--eval", stubborn], { stdio: "inherit", detached });
    child.unref();
    return child.pid;
  });
  process.on("SIGTERM", () => {});
  writeFileSync(${JSON.stringify(join(folder, "pids"))}, JSON.stringify([process.pid, ...pids]));
  ${then}`;

function pidsIn(folder: string): number[] {
  try {
    return JSON.parse(readFileSync(join(folder, "pids"), "utf8")) as number[];
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

describe("nothing is left running", () => {
  test("when the program has ended and left others behind", async () => {
    const folder = tempDir();
    const source = family(folder, "setTimeout(() => process.exit(0), 300);");
    expect(await answer(source)).toMatchObject({ type: "completed" });
    expect(pidsIn(folder)).toHaveLength(3);
    await expect.poll(() => pidsIn(folder).filter(isAlive)).toEqual([]);
  });

  test("when it took too long", async () => {
    const folder = tempDir();
    expect(await answer(family(folder, "setInterval(() => {}, 1000);"), { timeoutMs: 1_500 })).toMatchObject({
      error: { code: "agent_timeout", retryable: true },
    });
    await expect.poll(() => pidsIn(folder).filter(isAlive)).toEqual([]);
  });

  test("when the call is no longer wanted, which is no answer", async () => {
    const folder = tempDir();
    const stop = new AbortController();
    const binding = agent(family(folder, "setInterval(() => {}, 1000);"));
    const called = watched(binding, agentTask({ signal: stop.signal }));
    called.catch(() => {});
    await expect.poll(() => pidsIn(folder).length, { timeout: 20_000 }).toBe(3);
    stop.abort(new Error("cancelled"));
    await expect(called).rejects.toThrow("cancelled");
    await expect.poll(() => pidsIn(folder).filter(isAlive)).toEqual([]);
  });

  test("and nothing is started when it is not wanted before it begins", async () => {
    const file = join(tempDir(), "started");
    const call = shell(`touch ${file}`, { task: { signal: AbortSignal.abort(new Error("cancelled")) } });
    await expect(call).rejects.toThrow("cancelled");
    expect(() => readFileSync(file)).toThrow("ENOENT");
  });
});
