import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { doubling } from "../src/testing/doubling.ts";
import { inLongForm } from "../src/testing/long-form.ts";
import { createDatabase } from "../src/testing/postgres.ts";
import { tempDir } from "../src/testing/temp-dir.ts";
import { workflow } from "../src/testing/workflow.ts";
import { startAssay } from "./assay-process.js";

const KEY = "key-of-the-owner-of-the-small-host";
/** So small that two of the runs at once would not fit. */
const NODE_ARGS = ["--max-old-space-size=160"];

async function hostOn(database: readonly string[], folder: string) {
  writeFileSync(
    join(folder, "keys.json"),
    JSON.stringify([{ key: KEY, tenant: "t1", principal: "o", roles: ["owner"] }]),
  );
  const args = ["--port", "0", "--keys", join(folder, "keys.json"), ...database];
  const server = await startAssay({ args, logFile: join(folder, "server.log"), nodeArgs: NODE_ARGS });
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${server.url}${path}`, { method, headers, ...sent });
    return (await response.json()) as { runId: string; status: string; error?: { code: string } };
  };
  const ends = async (runId: string) => {
    for (;;) {
      const run = await ask("GET", `/v1/runs/${runId}`);
      if (["completed", "failed"].includes(run.status)) return run;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  return { ...server, ask, ends };
}

const DATABASES = inLongForm([
  ["SQLite", async (folder: string) => ["--data", folder]],
  ["PostgreSQL", async () => ["--database-url", (await createDatabase()).url]],
] as const);

describe.each(DATABASES)("twenty runs that double a variable, on %s", (_, databaseFor) => {
  test("end by themselves while other runs complete, also when the host is killed in the middle of it", async () => {
    const folder = tempDir();
    const database = await databaseFor(folder);
    const first = await hostOn(database, folder);
    await first.ask("POST", "/v1/workflows", doubling("doubling"));
    await first.ask("POST", "/v1/workflows", workflow({ id: "small", nodes: { a: "core.noop" } }));
    const begin = (workflowId: string) => first.ask("POST", "/v1/runs", { workflowId });
    const large = await Promise.all(Array.from({ length: 20 }, () => begin("doubling")));
    expect((await first.ends((await begin("small")).runId)).status).toBe("completed");
    // By now the others have begun to grow.
    expect((await first.ends(large[0]?.runId ?? "")).error?.code).toBe("run_too_large");
    expect(first.isAlive()).toBe(true);
    await first.kill();

    const second = await hostOn(database, folder);
    const { runId } = await second.ask("POST", "/v1/runs", { workflowId: "small" });
    expect((await second.ends(runId)).status).toBe("completed");
    for (const run of large) expect((await second.ends(run.runId)).error?.code).toBe("run_too_large");
    expect(second.isAlive()).toBe(true);
    await second.stop();
    // Hundreds of megabytes, which may be in memory.
    rmSync(folder, { recursive: true });
  }, 240_000);
});
