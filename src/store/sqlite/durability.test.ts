import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { built, startChild } from "../../testing/child-process.ts";
import { verifiedChain } from "../../testing/store-contract/audit.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { openSqliteStore } from "./sqlite-store.ts";

/** Eight callers commit audited units without end; each acknowledged one is a line on stdout. */
function startCommitting(path: string) {
  return startChild(`
    import { writeSync } from "node:fs";
    const { openSqliteStore } = await import(${built("store/sqlite/sqlite-store.js")});
    const { evolve } = await import(${built("protocol/runs/run.js")});
    const store = await openSqliteStore({ path: ${JSON.stringify(path)} });
    const timestamp = new Date().toISOString();
    const owner = { tenant: "t1" };
    const started = (runId) => ({
      eventId: "evt-" + runId, runId, sequence: 0, timestamp, type: "run.started",
      payload: { workflowId: "wf", workflowHash: "h", inputs: {}, defaults: {}, transport: "rest", engineVersion: "1",
        owner, limits: { nodeExecutions: 1 } },
    });
    const caller = async (name) => {
      for (let n = 0; ; n++) {
        const event = started("run-" + process.pid + "-" + name + "-" + n);
        const { ok } = await store.commit({
          tenant: "t1",
          runs: [{ runId: event.runId, expectedVersion: 0, events: [event], run: evolve(undefined, event) }],
          audit: [{ occurredAt: timestamp, actor: "a", action: "run.create", target: event.runId, details: {} }],
        });
        if (ok) writeSync(1, event.runId + "\\n");
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, name) => caller(name)));
  `);
}

describe("a host killed under load, again and again", () => {
  test("has lost nothing that it acknowledged, and its audit chain is whole", async () => {
    const path = join(tempDir(), "assay.db");
    const acknowledged: string[] = [];
    for (const lines of [20, 200, 90]) {
      const host = startCommitting(path);
      for (let n = 0; n < lines; n++) acknowledged.push((await host.line()) ?? `it ended: ${host.stderr}`);
      await host.kill();
      for (let line = await host.line(); line !== undefined; line = await host.line()) acknowledged.push(line);
    }

    const store = await openSqliteStore({ path });
    const found = new Set(await store.allRunIds("", 1_000_000));
    expect(acknowledged.filter((runId) => !found.has(runId))).toEqual([]);

    const entries = await verifiedChain(store, "t1");
    expect(entries).toHaveLength(found.size);
    await store.close();
  });
});
