import { readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { evalSuite } from "../../src/testing/suite-builders.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { workflow } from "../../src/testing/workflow.ts";
import * as processes from "./assay.ts";
import { workflowFolder } from "./assay.ts";
import { assay, serve, start } from "./in-process.ts";

describe("a demo", () => {
  test("has something of everything, and leaves nothing behind", async () => {
    const TMPDIR = tempDir();
    const running = processes.start(["demo", "--port", "0"], {
      env: { TMPDIR, ASSAY_DATABASE_URL: "postgres://nowhere.invalid/x" },
    });
    await running.until((stdout) => stdout.includes("\n"));
    const [, url = "", key = ""] = /ready at (\S+) {2}owner key: (\S+)/.exec(running.stdout()) ?? [];
    const env = { ASSAY_URL: url, ASSAY_KEY: key };
    const told = async (...args: string[]) => JSON.parse((await assay([...args, "--json"], { env })).stdout);
    expect((await told("run", "list")).runs.length).toBeGreaterThanOrEqual(4);
    expect((await told("feedback", "summary")).total).toMatchObject({ annotations: 3, corrections: 1 });
    expect((await told("eval", "show")).run).toMatchObject({ passed: true, passedCount: 3 });
    expect((await told("suite", "list")).suites).toHaveLength(3);
    expect(await told("agent", "deployments", "local.acme.support.refunds")).toMatchObject([{ state: "test" }]);
    expect(running.stderr()).not.toContain('"msg":"request"');
    const [, reviewer = ""] = /--key (\S+)/.exec(running.stderr()) ?? [];
    expect((await told("inbox", "--key", reviewer)).items).toHaveLength(2);
    running.child.kill("SIGTERM");
    expect(await running.ended).toBe(0);
    expect(readdirSync(TMPDIR)).toEqual([]);
  });
});

describe("a first start", () => {
  test("prints one line with the address and an owner key, and a second start no key", async () => {
    const data = join(tempDir(), "deep/data");
    const first = await processes.serve(["--data", data]);
    expect(first.stdout()).toMatch(
      /^Assay is ready at http:\/\/127\.0\.0\.1:\d+ {2}owner key: assay_[0-9A-Za-z]{43}\n$/,
    );
    expect(statSync(data).mode & 0o777).toBe(0o700);
    expect(statSync(join(data, "assay.db")).mode & 0o077).toBe(0);
    expect(await first.client("whoami", "--json")).toMatchObject({ code: 0 });
    expect(await first.stop()).toBe(0);

    const second = await processes.serve(["--data", data], { key: first.ownerKey ?? "" });
    expect(second.stdout()).toMatch(/^Assay is ready at http:\/\/127\.0\.0\.1:\d+\n$/);
    expect(JSON.parse((await second.client("whoami", "--json")).stdout)).toMatchObject({ roles: ["owner"] });
    expect(await second.stop("SIGINT")).toBe(0);
    // Only the line for the person who started it may hold the key.
    expect(first.stderr() + second.stderr()).not.toContain(first.ownerKey);
  });

  test("with --json prints one object", async () => {
    const running = start(["serve", "--port", "0", "--json", "--data", tempDir()]);
    await running.until((stdout) => stdout.includes("\n"));
    expect(JSON.parse(running.stdout())).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      pid: process.pid,
      version: expect.any(String),
      ownerKey: expect.stringMatching(/^assay_/),
    });
    expect(await running.stop()).toBe(0);
  });

  test("with --keys makes those keys and no other, and expired ones do not open", async () => {
    const folder = tempDir();
    const keys = join(folder, "keys.json");
    const entry = { tenant: "t1", principal: "ada", roles: ["owner"] };
    const past = { ...entry, key: "key-that-is-over-already", expiresAt: "2020-01-01T00:00:00Z" };
    writeFileSync(keys, JSON.stringify([{ ...entry, key: "key-from-the-file-0" }, past]));
    const server = await serve(["--data", join(folder, "data"), "--keys", keys], { key: "key-from-the-file-0" });
    expect(server.ownerKey).toBeUndefined();
    expect(JSON.parse((await server.client("whoami", "--json")).stdout)).toMatchObject({
      tenant: "t1",
      principal: "ada",
    });
    const late = await server.client("whoami", "--key", past.key);
    expect(late).toMatchObject({ code: 3, stderr: expect.stringContaining("expired at 2020-01-01") });
    expect(server.stderr()).not.toContain("key-from-the-file-0");
    await server.stop();
  });

  test("with a broken key file exits 2 and names the entry", async () => {
    const keys = join(tempDir(), "keys.json");
    writeFileSync(keys, JSON.stringify([{ key: "short", tenant: "t", principal: "p" }]));
    const { code, stdout, stderr } = await assay(["serve", "--port", "0", "--keys", keys]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/keys\.json: entry 0 key must/);
  });
});

describe("a folder of workflows", () => {
  test("may have a gate that asks for a suite of --suites", async () => {
    const suites = tempDir();
    writeFileSync(join(suites, "refunds.json"), JSON.stringify(evalSuite()));
    const config = {
      requiredRole: "reviewer",
      requiredEval: { suite: "acme.support.evals.refunds@1.0.0", agentId: "local.acme.x" },
    };
    const typeId = "core.openwop.governance.approvalGate";
    const gated = workflow({ id: "gated", nodes: { gate: { typeId, config } as never } });
    const folder = workflowFolder({ "gated.json": gated });
    const server = await serve(["--data", tempDir(), "--suites", suites, "--workflows", folder]);
    expect((await server.client("workflow", "show", "gated")).code).toBe(0);
    expect(server.stderr()).not.toContain("is not registered");
    expect(await server.stop()).toBe(0);
  });

  test("is registered; a file that cannot be is named and skipped, and --strict ends the start", async () => {
    const folder = workflowFolder({ "bad.json": "{", "odd.json": { id: "odd" } });
    const data = tempDir();
    const server = await serve(["--data", data, "--workflows", folder]);
    expect(server.stderr()).toMatch(/assay: .*bad\.json is not registered: .*not JSON/);
    expect(server.stderr()).toMatch(/assay: .*odd\.json is not registered: .*must have/);
    const { workflows } = JSON.parse((await server.client("workflow", "list", "--json")).stdout);
    expect(workflows.map(({ id }: { id: string }) => id)).toEqual(["greet", "sleep"]);
    await server.stop();

    const strict = await assay(["serve", "--port", "0", "--data", tempDir(), "--workflows", folder, "--strict"]);
    expect(strict).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/bad\.json is not registered/) });
  });
});

describe("a place that is taken", () => {
  test("by a server on the same data is refused, naming the owner, and the owner goes on", async () => {
    const data = tempDir();
    const owner = await processes.serve(["--data", data]);
    const { code, stdout, stderr } = await assay(["serve", "--port", "0", "--data", data]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(`is in use by process ${owner.child.pid}`);
    expect(await owner.client("whoami")).toMatchObject({ code: 0 });
    await owner.stop();
  });

  test("by another program on the same port is refused with a way out", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const data = tempDir();
    const refused = await assay(["serve", "--port", String(port), "--data", data]);
    other.close();
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain(`error: port ${port} on 127.0.0.1 is in use; choose another with --port`);
    // It made no owner key that nobody saw.
    const second = await serve(["--data", data]);
    expect(second.ownerKey).toMatch(/^assay_/);
    await second.stop();
  });
});

describe("a folder for data that cannot be used", () => {
  test("is named, with a way out, whatever the command", async () => {
    const file = join(tempDir(), "a-file");
    writeFileSync(file, "");
    const refused = async (...command: string[]) => {
      const { code, stdout, stderr } = await assay([...command, "--data", join(file, "data")]);
      expect({ code, stdout }, command[0]).toEqual({ code: 2, stdout: "" });
      return stderr;
    };
    expect(await refused("serve", "--port", "0")).toMatch(
      /^error: the database cannot be kept in .*a-file\/data: .*; choose a folder with --data\.\n$/,
    );
    expect(await refused("migrate")).toMatch(/^error: there is no folder .*a-file\/data, .* with --data\.\n$/);
  });
});

describe("the end of a server", () => {
  test("by SIGTERM lets streams go, hands runs back and exits 0", async () => {
    const server = await processes.serve(["--data", tempDir(), "--workflows", workflowFolder()]);
    const { stdout } = await server.client("run", "start", "sleep");
    const watching = processes.start(["run", "watch", stdout.trim()], {
      env: { ASSAY_URL: server.url, ASSAY_KEY: server.ownerKey ?? "" },
    });
    await watching.until((text) => text.includes("run.started"));
    const startedMs = Date.now();
    expect(await server.stop()).toBe(0);
    expect(Date.now() - startedMs).toBeLessThan(10_000);
    expect(server.stderr()).toContain('"msg":"stopped"');
    watching.child.kill("SIGKILL");
  });

  test("by a second signal does not wait for anybody", async () => {
    const server = await processes.serve(["--data", tempDir(), "--shutdown-grace-ms", "30000"]);
    // A request that never ends holds up the first.
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.on("error", () => {});
    const head = [
      "POST /v1/runs HTTP/1.1",
      "Host: x",
      `Authorization: Bearer ${server.ownerKey}`,
      "Content-Length: 99",
    ];
    socket.write(`${head.join("\r\n")}\r\nContent-Type: application/json\r\n\r\n{`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    server.child.kill("SIGTERM");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(server.child.exitCode).toBeNull();
    expect(await server.stop("SIGTERM")).toBe(143);
    socket.destroy();
  });

  test("by kill -9 loses nothing: the next start goes on with the run", async () => {
    const data = tempDir();
    const first = await processes.serve(["--data", data, "--workflows", workflowFolder()]);
    const { stdout } = await first.client("run", "start", "sleep", "--input", "delayMs=2500");
    const runId = stdout.trim();
    await first.stop("SIGKILL");
    const second = await serve(["--data", data], { key: first.ownerKey ?? "" });
    const watched = await second.client("run", "watch", runId);
    expect(watched).toMatchObject({ code: 0, stdout: expect.stringContaining("run.completed") });
    expect(await second.client("audit", "verify")).toMatchObject({ code: 0 });
    await second.stop();
  });
});

describe("settings", () => {
  test("come from assay.config.json in the working directory", async () => {
    const cwd = tempDir();
    const settings = {
      data: "here",
      host: "0.0.0.0",
      worker: false,
      logLevel: "silent",
      disable: ["auditLogIntegrity"],
    };
    writeFileSync(join(cwd, "assay.config.json"), JSON.stringify(settings));
    const server = await serve([], { cwd });
    expect(statSync(join(cwd, "here/assay.db")).isFile()).toBe(true);
    expect(server.stderr()).toContain("assay: listening on 0.0.0.0 without TLS");
    expect(server.stderr()).toContain("no runs are executed");
    expect(server.stderr()).not.toContain('"msg"');
    expect(await server.client("audit", "verify", "--url", server.url.replace("0.0.0.0", "127.0.0.1"))).toMatchObject({
      code: 5,
      stdout: "",
    });
    await server.stop();
  });

  test("with mistakes end the start before anything is made", async () => {
    const cwd = tempDir();
    writeFileSync(join(cwd, "assay.config.json"), '{"prot": 1}');
    const { code, stderr } = await assay(["serve", "--disable", "foo"], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('unknown key "prot"; did you mean "port"?');
    expect(stderr).toContain("--disable must be one of");
    expect(() => statSync(join(cwd, ".assay"))).toThrow();
  });
});
