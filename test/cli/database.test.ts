import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEmptyDatabase, type TestDatabase } from "../../src/testing/postgres.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import * as processes from "./assay.ts";
import { workflowFolder } from "./assay.ts";
import { assay, type Ready, serve } from "./in-process.ts";

let database: TestDatabase;
const workflows = workflowFolder();
beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

/** Starts runs one after the other until told to stop; returns the ids that were acknowledged, in order. */
function load({ url, ownerKey }: Ready) {
  const acknowledged: string[] = [];
  let stopped = false;
  const one = async () => {
    while (!stopped) {
      const response = await fetch(`${url}/v1/runs`, {
        method: "POST",
        headers: { authorization: `Bearer ${ownerKey}`, "content-type": "application/json" },
        body: JSON.stringify({ workflowId: "greet" }),
      });
      acknowledged.push(((await response.json()) as { runId: string }).runId);
    }
  };
  const done = Promise.all(Array.from({ length: 4 }, one));
  return {
    acknowledged,
    stop: async () => {
      stopped = true;
      await done;
    },
  };
}

async function everyRunId(server: Ready): Promise<Set<string>> {
  const { stdout } = await server.client("run", "list", "--limit", "100000", "--json");
  return new Set((JSON.parse(stdout).runs as { runId: string }[]).map(({ runId }) => runId));
}

describe("a backup of a busy host", () => {
  test.each([
    ["SQLite", "PostgreSQL"],
    ["PostgreSQL", "SQLite"],
  ])("goes from %s to %s with everything that was acknowledged before, and its audit chain holds", async (from) => {
    const own = await createEmptyDatabase();
    const data = tempDir();
    const inFile = ["--data", join(data, "db")];
    const inPostgres = ["--database-url", own.url];
    const source = from === "SQLite" ? inFile : inPostgres;
    const target = from === "SQLite" ? inPostgres : inFile;
    const file = join(data, "backup.jsonl.gz");

    const busy = await processes.serve([...source, "--workflows", workflows, "--log-level", "warn"]);
    const { stdout: sleeping } = await busy.client("run", "start", "sleep", "--input", "delayMs=100");
    const working = load(busy);
    while (working.acknowledged.length < 50) await new Promise((resolve) => setTimeout(resolve, 10));
    const before = [...working.acknowledged];
    // Of a process of its own: in this one it would wait for the load, which grows meanwhile.
    const backup = await processes.assay(["backup", file, ...source]);
    expect(backup).toMatchObject({ code: 0, stdout: expect.stringMatching(/rows of .*, [\d.]+ [kM]B\n$/) });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await working.stop();
    expect(await busy.stop()).toBe(0);

    expect(await assay(["restore", file, ...target])).toMatchObject({ code: 0 });
    const again = await assay(["restore", file, ...target]);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("the database is not empty") });

    const restored = await serve([...target, "--log-level", "warn"], { key: busy.ownerKey ?? "" });
    expect(restored.ownerKey).toBeUndefined();
    const found = await everyRunId(restored);
    expect(before.filter((runId) => !found.has(runId))).toEqual([]);
    expect(await restored.client("audit", "verify")).toMatchObject({ code: 0 });
    // What was under way goes on.
    expect(await restored.client("run", "watch", sleeping.trim())).toMatchObject({ code: 0 });
    expect(await restored.client("run", "start", "greet", "--wait")).toMatchObject({ code: 0 });
    expect(await restored.client("audit", "verify")).toMatchObject({ code: 0 });
    await restored.stop();
    await own.drop();
  });

  test("that was damaged is refused, and one that exists is not replaced by accident", async () => {
    const data = tempDir();
    const host = await serve(["--data", join(data, "db")]);
    await host.stop();
    const file = join(data, "b.jsonl");
    expect(await assay(["backup", file, "--data", join(data, "db")])).toMatchObject({ code: 0 });
    expect(await assay(["backup", file, "--data", join(data, "db")])).toMatchObject({ code: 2 });
    writeFileSync(join(data, "db", "evals.db"), "");
    expect(await assay(["backup", file, "--data", join(data, "db"), "--force"])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("evals.db, the evaluations of this machine, is not in the backup"),
    });
    const whole = readFileSync(file);
    writeFileSync(file, whole.subarray(0, whole.length - 30));
    const refused = await assay(["restore", file, "--data", join(data, "new")]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/b\.jsonl: .*truncated/) });
    expect(await assay(["restore", join(data, "nowhere"), "--data", join(data, "new2")])).toMatchObject({ code: 2 });
    expect(() => statSync(join(data, "new2"))).toThrow();
  });
});

describe("migrations", () => {
  test("run apart from the start, and can be asked about", async () => {
    const fresh = await createEmptyDatabase();
    const flags = ["--database-url", fresh.url];
    expect(await assay(["migrate", "--check", ...flags])).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/is at schema version 0; this version needs \d+/),
    });
    const done = await assay(["migrate", "--json", ...flags]);
    expect(done.code).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({ from: 0, migrated: true });
    expect(done.stdout).not.toContain(new URL(fresh.url).password);
    expect(await assay(["migrate", "--check", ...flags])).toMatchObject({ code: 0 });

    const client = new Client({ connectionString: fresh.url });
    await client.connect();
    await client.query("insert into kysely_migration (name, timestamp) values ('9999-from-the-future', 'now')");
    await client.end();
    for (const command of [
      ["migrate"],
      ["migrate", "--check"],
      ["serve", "--port", "0"],
      ["backup", join(tempDir(), "x")],
    ]) {
      expect(await assay([...command, ...flags]), command.join(" ")).toMatchObject({
        code: 2,
        stdout: "",
        stderr: expect.stringContaining("schema version 9999; this Assay knows up to"),
      });
    }
    await fresh.drop();
  });
});

describe("processes on one PostgreSQL", () => {
  test("share the work: a host without a worker and a worker without a host", async () => {
    const flags = ["--database-url", database.url];
    const host = await processes.serve([...flags, "--no-worker", "--workflows", workflows]);
    const { stdout } = await host.client("run", "start", "greet");
    const worker = processes.start(["worker", ...flags]);
    await worker.until((text) => text.includes("Working on postgres"));
    expect(worker.stdout()).not.toContain(new URL(database.url).password);
    expect(await host.client("run", "watch", stdout.trim())).toMatchObject({ code: 0 });
    worker.child.kill("SIGTERM");
    expect(await worker.ended).toBe(0);
    expect(await host.stop()).toBe(0);
  });

  test("that refuses the user or has no such database is exit code 2, without its password", async () => {
    const stranger = new URL(database.url);
    stranger.password = "hunter2";
    const elsewhere = new URL(database.url);
    elsewhere.pathname = "/nowhere";
    for (const { href } of [stranger, elsewhere]) {
      for (const command of [["serve", "--port", "0"], ["worker"], ["migrate"], ["backup", join(tempDir(), "x")]]) {
        const { code, stdout, stderr } = await assay([...command, "--database-url", href]);
        expect({ code, stdout }, command.join(" ")).toEqual({ code: 2, stdout: "" });
        expect(stderr).toMatch(
          /^error: (password .* failed|database "nowhere" does not exist).*; check --database-url\.\n$/,
        );
        expect(stderr).not.toContain(new URL(href).password);
      }
    }
  });

  test("that is not there is exit code 4, without its password", async () => {
    const nowhere = "postgres://user:hunter2@127.0.0.1:9/x";
    for (const command of [["serve", "--port", "0"], ["worker"], ["migrate"], ["backup", join(tempDir(), "x")]]) {
      const { code, stdout, stderr } = await assay([...command, "--database-url", nowhere]);
      expect({ code, stdout }, command.join(" ")).toEqual({ code: 4, stdout: "" });
      expect(stderr).not.toContain("hunter2");
      expect(stderr, command.join(" ")).toContain("The database cannot be opened: connect ECONNREFUSED 127.0.0.1:9.");
    }
  });
});
