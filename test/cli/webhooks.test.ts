import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase } from "../../src/testing/postgres.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import * as processes from "./assay.ts";
import { workflowFolder } from "./assay.ts";
import { type Server, serve, start } from "./in-process.ts";

const SECRET = "the-secret-of-the-receiver";
let server: Server;
let secretFile: string;
const receivers: ChildProcess[] = [];

beforeAll(async () => {
  secretFile = join(tempDir(), "secret.txt");
  writeFileSync(secretFile, `${SECRET}\n`);
  const quick = ["--allow-private-webhooks", "--webhook-attempts", "2", "--webhook-retry-ms", "1"];
  server = await serve(["--data", tempDir(), "--workflows", workflowFolder(), ...quick]);
});
afterAll(() => {
  for (const receiver of receivers) receiver.kill("SIGKILL");
});

/** The receiver of the documentation, as it stands there. */
async function receiver(secret: string): Promise<{ url: string; until(pattern: RegExp): Promise<void> }> {
  const page = readFileSync(new URL("../../docs/webhooks.md", import.meta.url), "utf8");
  const [, code = ""] = /^```js\n(.*?)^```/ms.exec(page) ?? [];
  const file = join(tempDir(), "receiver.mjs");
  writeFileSync(file, code);
  const child = spawn(process.execPath, [file, secret, "0"], { stdio: ["ignore", "pipe", "inherit"] });
  receivers.push(child);
  let said = "";
  let told = () => {};
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    told();
  });
  const until = async (pattern: RegExp) => {
    while (!pattern.test(said)) await new Promise<void>((resolve) => (told = resolve));
  };
  await until(/listening on port \d+/);
  const [, port] = /port (\d+)/.exec(said) ?? [];
  return { url: `http://127.0.0.1:${port}/`, until };
}

async function created(url: string, ...more: string[]): Promise<string> {
  const made = await server.client("webhook", "create", url, "--secret-file", secretFile, "--json", ...more);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  return JSON.parse(made.stdout).webhookId;
}

describe("a webhook", () => {
  test("is made, tried, listed, gets events and is deleted", async () => {
    const { url, until } = await receiver(SECRET);
    const webhookId = await created(url, "--event", "run.completed", "--event", "run.failed", "--tag", "nightly");
    expect(await server.client("webhook", "test", webhookId)).toMatchObject({
      code: 0,
      stdout: "delivered: the receiver answered 204\n",
    });
    const { stdout } = await server.client("webhook", "list");
    expect(stdout).toMatch(new RegExp(`${webhookId} +active +0 +run.completed,run.failed +nightly +${url}`));
    expect(stdout).not.toContain(SECRET);
    const run = await server.client("run", "start", "greet", "--tag", "nightly");
    await until(new RegExp(`${run.stdout.trim()} run.completed`));
    await expect
      .poll(async () => (await server.client("webhook", "deliveries", webhookId)).stdout, { timeout: 20_000 })
      .toMatch(new RegExp(`dlv-\\w+ +run.completed +${run.stdout.trim()} +delivered +1 .* 204`));
    expect(await server.client("webhook", "delete", webhookId)).toMatchObject({
      code: 0,
      stdout: `${webhookId} deleted\n`,
    });
    expect(await server.client("webhook", "delete", webhookId)).toMatchObject({ code: 2 });
  });

  test("with a receiver that knows another secret has dead deliveries, which can be sent again", async () => {
    const { url } = await receiver("another-secret-altogether");
    const webhookId = await created(url, "--event", "run.*");
    expect(await server.client("webhook", "test", webhookId)).toMatchObject({
      code: 1,
      stdout: "not delivered: the receiver answered 401\n",
    });
    await server.client("run", "start", "greet", "--wait");
    const dead = async () =>
      JSON.parse((await server.client("webhook", "deliveries", webhookId, "--state", "dead", "--json")).stdout)
        .deliveries;
    await expect.poll(async () => (await dead()).length, { timeout: 30_000 }).toBe(2);
    const [{ deliveryId }] = await dead();
    expect(await server.client("webhook", "enable", webhookId)).toMatchObject({
      code: 0,
      stdout: `${webhookId} active\n`,
    });
    expect(await server.client("webhook", "redeliver", webhookId, "--delivery", deliveryId)).toMatchObject({
      code: 0,
      stdout: "1 delivery is sent again\n",
    });
    const none = await server.client("webhook", "redeliver", webhookId, "--delivery", "dlv-none");
    expect(none).toMatchObject({ code: 2, stdout: "" });
  });

  test("shows a secret that the host made, and never again", async () => {
    const made = await server.client("webhook", "create", "http://127.0.0.1:9/", "--event", "*");
    expect(made.code).toBe(0);
    expect(made.stdout).toMatch(/^Webhook +hook-\w+\nSecret +whsec_[\w-]{43}\n$/);
    expect(made.stderr).toContain("not shown again");
  });

  test("that makes no sense is refused with exit code 2", async () => {
    const refused = async (...args: string[]) => (await server.client("webhook", "create", ...args)).stderr;
    expect(await refused("http://127.0.0.1:9/")).toContain("--event is missing");
    expect(await refused("http://127.0.0.1:9/", "--event", "run.complete")).toContain("run.completed");
    expect(await refused("nowhere", "--event", "*")).toContain("is not a URL");
    expect(await refused("ftp://127.0.0.1/", "--event", "*")).toContain("https://");
  });
});

test("a host that was not told otherwise takes public https addresses only", async () => {
  const strict = await serve(["--data", tempDir()]);
  for (const url of ["http://hooks.example.com/", "https://127.0.0.1/", "https://localhost/"]) {
    const refused = await strict.client("webhook", "create", url, "--event", "*");
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("No delivery may go to this URL") });
  }
  await strict.stop();
});

test("what was committed before a kill is delivered after the next start", async () => {
  const data = tempDir();
  const { url, until } = await receiver(SECRET);
  const idle = await processes.serve([
    "--data",
    data,
    "--workflows",
    workflowFolder(),
    "--no-worker",
    "--allow-private-webhooks",
  ]);
  const made = await idle.client("webhook", "create", url, "--event", "run.started", "--secret-file", secretFile);
  expect(made.code).toBe(0);
  const { stdout } = await idle.client("run", "start", "greet");
  await idle.stop("SIGKILL");
  const next = await serve(["--data", data, "--allow-private-webhooks"], { key: idle.ownerKey ?? "" });
  await until(new RegExp(`${stdout.trim()} run.started`));
  expect(await next.stop()).toBe(0);
});

test("a worker of its own delivers what hosts on the same PostgreSQL commit", async () => {
  const database = await createDatabase();
  const { url, until } = await receiver(SECRET);
  const on = ["--database-url", database.url, "--allow-private-webhooks"];
  const host = await serve([...on, "--workflows", workflowFolder(), "--no-worker"]);
  const worker = start(["worker", ...on]);
  await worker.until((text) => text.includes("Working on"));
  const made = await host.client("webhook", "create", url, "--event", "run.completed", "--secret-file", secretFile);
  expect(made.code).toBe(0);
  const { stdout } = await host.client("run", "start", "greet");
  await until(new RegExp(`${stdout.trim()} run.completed`));
  expect(await worker.stop()).toBe(0);
  await host.stop();
  await database.drop();
});
