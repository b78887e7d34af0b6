import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { tempDir } from "../../src/testing/temp-dir.ts";
import * as processes from "./assay.ts";
import { GREET, SLEEP, workflowFolder } from "./assay.ts";
import { assay, type Server, serve, start } from "./in-process.ts";

let server: Server;
beforeAll(async () => {
  server = await serve(["--data", tempDir(), "--workflows", workflowFolder()]);
});

function environment(): Record<string, string> {
  return { ASSAY_URL: server.url, ASSAY_KEY: server.ownerKey ?? "" };
}

async function startRun(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await server.client("run", "start", ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^run-\w+\n$/);
  return stdout.trim();
}

describe("a run", () => {
  test("is started, shown and listed", async () => {
    const runId = await startRun("greet", "--input", "name=Ada", "--tag", "nightly");
    expect(await server.client("run", "watch", runId)).toMatchObject({ code: 0 });
    const { stdout } = await server.client("run", "show", runId);
    expect(stdout).toMatch(new RegExp(`^Run +${runId}\nWorkflow +greet\nStatus +completed\n`));
    expect(stdout).toContain("nightly");
    expect(stdout).toMatch(/Outputs\n {2}said +"Ada"/);
    const shown = JSON.parse((await server.client("run", "show", runId, "--json")).stdout);
    expect(shown).toMatchObject({ runId, status: "completed", tags: ["nightly"] });
    const listed = await server.client("run", "list", "--workflow", "greet", "--status", "completed");
    expect(listed.stdout).toMatch(/^RUN +WORKFLOW +STATUS +STARTED +TOOK +TAGS\n/);
    expect(listed.stdout).toMatch(new RegExp(`${runId} +greet +completed .* nightly\n`));
  });

  test("is watched to its end: readable lines, or one JSON object per line", async () => {
    const watched = await server.client("run", "start", "greet", "--inputs", '{"name":"Bo"}', "--watch");
    expect(watched.code).toBe(0);
    const times = watched.stdout.trim().split("\n");
    expect(times.map((line) => line.split(/ +/)[1])).toEqual(["run.started", "node.completed", "run.completed"]);
    expect(watched.stdout).toContain('{"said":"Bo"}');
    const { stdout } = await server.client("run", "watch", watched.stderr.trim(), "--json", "--all");
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => i));
    expect(events.at(-1)).toMatchObject({ type: "run.completed", runId: watched.stderr.trim() });
  });

  test("is waited for, and its inputs may come from a file", async () => {
    const file = join(tempDir(), "inputs.json");
    writeFileSync(file, '{"name":"from a file"}');
    const { code, stdout } = await server.client("run", "start", "greet", "--inputs", `@${file}`, "--wait", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "completed", outputs: { said: "from a file" } });
  });

  test("is started once under one idempotency key", async () => {
    const [first, second] = [
      await startRun("sleep", "--idempotency-key", "k1"),
      await startRun("sleep", "--idempotency-key", "k1"),
    ];
    expect(second).toBe(first);
    expect(await server.client("run", "cancel", first)).toMatchObject({ code: 0, stdout: `${first} cancelled\n` });
  });

  test("is paused, resumed and cancelled, and watching it then exits 1", async () => {
    const runId = await startRun("sleep");
    const watching = start(["run", "watch", runId], { env: environment() });
    await watching.until((text) => text.includes("run.started"));
    const paused = await server.client("run", "pause", runId, "--drain", "immediate", "--reason", "lunch");
    expect(paused).toMatchObject({ code: 0, stdout: `${runId} paused\n` });
    await watching.until((text) => /run\.paused .*lunch/.test(text));
    expect(JSON.parse((await server.client("run", "show", runId, "--json")).stdout).status).toBe("paused");
    expect(await server.client("run", "resume", runId)).toMatchObject({ code: 0, stdout: `${runId} running\n` });
    expect(await server.client("run", "cancel", runId, "--reason", "enough")).toMatchObject({ code: 0 });
    expect(await watching.ended).toBe(1);
    expect(watching.stdout()).toMatch(/run\.cancelled .*enough/);
    const again = await server.client("run", "pause", runId);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("cancelled and cannot change any more") });
  });

  test("is cancelled with others, one result each", async () => {
    const done = await startRun("greet");
    await server.client("run", "watch", done);
    const open = await startRun("sleep");
    const { code, stdout, stderr } = await server.client("run", "cancel", open, done, "run-unknown");
    expect({ code, stdout }).toEqual({ code: 2, stdout: `${open} cancelled\n` });
    expect(stderr).toContain(`${done} is completed`);
    expect(stderr).toContain("run-unknown");
  });

  test("that nobody can see is exit code 2, and a workflow that nobody knows too", async () => {
    expect(await server.client("run", "show", "run-nothing")).toMatchObject({ code: 2, stdout: "" });
    expect(await server.client("run", "start", "nothing")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no workflow "nothing" is registered'),
    });
  });

  test("goes on being watched when its server is started again", async () => {
    const data = tempDir();
    const first = await processes.serve(["--data", data, "--workflows", workflowFolder()]);
    const { port } = new URL(first.url);
    const { stdout } = await first.client("run", "start", "sleep", "--input", "delayMs=3000");
    const watching = start(["run", "watch", stdout.trim(), "--all", "--json"], {
      env: { ASSAY_URL: first.url, ASSAY_KEY: first.ownerKey ?? "" },
    });
    await watching.until((text) => text.includes("node.started"));
    await first.stop("SIGKILL");
    const second = await serve(["--data", data, "--port", port], { key: first.ownerKey ?? "" });
    expect(await watching.ended).toBe(0);
    const sequences = watching
      .stdout()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).sequence);
    expect(sequences).toEqual(sequences.map((_: unknown, i: number) => i));
    await second.stop();
  });

  test("can be watched by a reader that goes away", async () => {
    const runId = await startRun("greet");
    const watching = processes.start(["run", "watch", runId, "--all"], { env: environment() });
    watching.child.stdout?.destroy();
    expect(await watching.ended).toBe(0);
    expect(watching.stderr()).toBe("");
  });
});

describe("workflows", () => {
  test("are registered from files and from standard input, listed and shown as they were written", async () => {
    const text = `${JSON.stringify({ ...GREET, id: "own" }, null, 4)}\n`;
    const file = join(tempDir(), "own.json");
    writeFileSync(file, text);
    const bad = join(tempDir(), "bad.json");
    writeFileSync(bad, "{}");
    const { code, stdout, stderr } = await server.client("workflow", "register", file, bad);
    expect({ code, stdout }).toEqual({ code: 2, stdout: expect.stringMatching(/own +1 +registered/) });
    expect(stderr).toMatch(/bad\.json: .*must have/);
    expect((await server.client("workflow", "register", file)).stdout).toMatch(/own +1 +unchanged/);
    const fromStdin = await processes.assay(["workflow", "register", "-"], {
      env: environment(),
      stdin: JSON.stringify({ ...SLEEP, id: "piped" }),
    });
    expect(fromStdin).toMatchObject({ code: 0, stdout: expect.stringMatching(/piped +1 +registered/) });
    expect((await server.client("workflow", "list")).stdout).toMatch(/^own +1 +Greet +[0-9a-f]{12}$/m);
    expect((await server.client("workflow", "show", "own")).stdout).toBe(text);
  });
});

describe("the audit chain", () => {
  test("is verified online, exported and verified offline; a changed copy is not valid", async () => {
    await startRun("greet");
    expect(await server.client("audit", "verify")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^valid {2}\d+ audit entries/),
    });
    const file = join(tempDir(), "audit.jsonl");
    expect(await server.client("audit", "export", file)).toMatchObject({ code: 0 });
    expect(await server.client("audit", "export", file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--force"),
    });
    const offline = await assay(["audit", "verify", "--file", file, "--json"]);
    expect(offline.code).toBe(0);
    expect(JSON.parse(offline.stdout)).toMatchObject({ tenant: "default", chainValid: true, checkpointsValid: true });

    writeFileSync(file, readFileSync(file, "utf8").replace('"run.created"', '"run.deleted"'));
    expect(await assay(["audit", "verify", "--file", file])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^NOT VALID/),
    });
    const zipped = join(tempDir(), "audit.jsonl.gz");
    expect(await server.client("audit", "export", zipped)).toMatchObject({ code: 0 });
    expect(await assay(["audit", "verify", "--file", zipped])).toMatchObject({ code: 0 });
  });
});

describe("keys", () => {
  test("are made, listed, expire and are revoked", async () => {
    const made = await server.client(
      "key",
      "create",
      "--principal",
      "ci",
      "--roles",
      "viewer",
      "--expires-in",
      "1s",
      "--label",
      "short",
    );
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^assay_\w+\n$/) });
    const key = made.stdout.trim();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await server.client("whoami", "--key", key)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("expired"),
    });

    const { stdout } = await server.client(
      "key",
      "create",
      "--principal",
      "bot",
      "--kind",
      "agent",
      "--roles",
      "viewer",
      "--json",
    );
    const { key: other, info } = JSON.parse(stdout);
    expect(info).toMatchObject({ principal: "bot", kind: "agent", roles: ["viewer"] });
    const denied = await server.client("run", "start", "greet", "--key", other);
    expect(denied).toMatchObject({ code: 3, stderr: expect.stringContaining("runs:create") });
    expect((await server.client("key", "list")).stdout).toMatch(new RegExp(`${info.keyId} +bot \\(agent\\) .*valid`));
    expect(await server.client("key", "revoke", info.keyId)).toMatchObject({ code: 0 });
    expect(await server.client("whoami", "--key", other)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("revoked"),
    });
    expect((await server.client("key", "list")).stdout).toMatch(/ci .*expired/);
  });

  test("can be made on the data of a stopped host, when the owner key is lost", async () => {
    const data = tempDir();
    const first = await processes.serve(["--data", data]);
    const inUse = await assay(["key", "create", "--principal", "me", "--roles", "owner", "--data", data]);
    expect(inUse).toMatchObject({ code: 2, stderr: expect.stringContaining(`process ${first.child.pid}`) });
    await first.stop();
    const made = await assay(["key", "create", "--principal", "me", "--roles", "owner", "--data", data]);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^assay_\w+\n$/) });
    expect((await assay(["key", "list", "--data", data])).stdout).toMatch(/ me .* owner /);
    const second = await serve(["--data", data], { key: made.stdout.trim() });
    expect(JSON.parse((await second.client("whoami", "--json")).stdout)).toMatchObject({
      principal: "me",
      roles: ["owner"],
    });
    expect(await second.client("audit", "verify")).toMatchObject({ code: 0 });
    await second.stop();
  });

  test("are not looked for in a folder that has no database", async () => {
    expect(await assay(["key", "list", "--data", tempDir()])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("there is no database in"),
    });
  });
});

describe("whoever has no business here", () => {
  test("is told so with exit code 3", async () => {
    const nobody = await assay(["whoami"], { env: { ASSAY_URL: server.url } });
    expect(nobody).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining("set ASSAY_KEY") });
    const wrong = await assay(["run", "list", "--json"], {
      env: { ASSAY_URL: server.url, ASSAY_KEY: "not-a-known-key-at-all" },
    });
    expect(wrong.code).toBe(3);
    expect(JSON.parse(wrong.stderr)).toMatchObject({ error: "unauthenticated" });
  });
});
