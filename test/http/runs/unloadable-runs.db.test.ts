import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withLargeCommitsInTurn } from "../../../src/engine/families/large-commits.ts";
import { RunRoom } from "../../../src/engine/worker/run-room.ts";
import type { RunEventDoc } from "../../../src/protocol/events.ts";
import type { Store } from "../../../src/store/port/store.ts";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { createDatabase } from "../../../src/testing/postgres.ts";
import { expectAllRebuilt } from "../../../src/testing/rebuilt.ts";
import { tempDir } from "../../../src/testing/temp-dir.ts";
import { workflow } from "../../../src/testing/workflow.ts";

const MB = 2 ** 20;
const BEFORE = new RunRoom({ maxRunBytes: 8 * MB, maxBytesInHand: 64 * MB });
const AFTER = new RunRoom({ maxRunBytes: 0.5 * MB, maxBytesInHand: 64 * MB, maxLoadBytes: 1.25 * MB });

/** Opens the same database each time. */
const DATABASES: readonly (readonly [string, () => Promise<() => Promise<Store>>])[] = [
  [
    "SQLite",
    async () => {
      const path = `${tempDir()}/assay.db`;
      return () => openSqliteStore({ path });
    },
  ],
  [
    "PostgreSQL",
    async () => {
      const { url } = await createDatabase();
      return () => openPostgresStore({ url });
    },
  ],
];

/** A gate, and a parent that waits for a run that waits at it. */
async function registerAll(gates: GateClient): Promise<void> {
  await gates.register("gate", "core.approvalGate", { title: "Ship it?" });
  await gates.registerWorkflow(workflow({ id: "noop", nodes: { a: "core.noop" } }));
  await gates.registerWorkflow(
    workflow({ id: "sleeper", nodes: { a: { typeId: "core.delay", config: { ms: 3000 } } } }),
  );
  await gates.registerWorkflow(
    workflow({ id: "above", nodes: { sub: { typeId: "core.subWorkflow", config: { workflowId: "gate" } } } }),
  );
}

describe.each(DATABASES)("runs that are too large to load after a restart, on %s", (_, database) => {
  let host: TestHost;
  let gates: GateClient;
  let store: Store;
  const ids: Record<"waiting" | "token" | "sleeping" | "completed" | "above" | "child" | "deleted", string> = {
    waiting: "",
    token: "",
    sleeping: "",
    completed: "",
    above: "",
    child: "",
    deleted: "",
  };

  const hostWith = async (opened: Store, room: RunRoom) => {
    store = opened;
    const guarded = withLargeCommitsInTurn(opened, room);
    host = await testHost({
      store: guarded,
      host: { room, store: guarded },
      settings: { maxRequestBodyBytes: 8 * MB },
      worker: true,
    });
    gates = new GateClient(host);
  };
  const snapshot = async (runId: string) => (await host.ask("GET", `/v1/runs/${runId}`)).json();
  const typesOf = async (runId: string): Promise<string[]> => {
    const answer = await host.ask("GET", `/v1/runs/${runId}/events`, { headers: { accept: "application/json" } });
    expect(answer.statusCode).toBe(200);
    return (answer.json().events as RunEventDoc[]).map(({ type }) => type);
  };

  beforeAll(async () => {
    const open = await database();
    await hostWith(await open(), BEFORE);
    await registerAll(gates);
    const large = { inputs: { text: "x".repeat(2 * MB) } };
    ids.waiting = await gates.waiting("gate", "owner", large);
    ids.token = await gates.waiting("gate", "owner", large);
    ids.deleted = await gates.waiting("gate", "owner", large);
    ids.above = await gates.waiting("above", "owner", large);
    ids.child = (await snapshot(ids.above)).childRuns[0].runId;
    ids.completed = await gates.start("noop", "owner", large);
    await gates.until(ids.completed, ({ status }) => status === "completed");
    ids.sleeping = await gates.start("sleeper", "owner", large);
    await gates.until(ids.sleeping, ({ nodes }) => nodes["a"]?.status === "sleeping");
    await host.close();
    await hostWith(await open(), AFTER);
  });
  afterAll(async () => {
    await host.close();
  });

  test("the head of one that waits is read, alone and in a list, and its events", async () => {
    const run = await snapshot(ids.waiting);
    expect(run).toMatchObject({ status: "waiting-approval", workflowId: "gate", variables: {} });
    expect(run.stateOmitted.bytes).toBeGreaterThan(2 * MB);
    const listed = (await host.ask("GET", "/v1/runs?limit=20")).json().runs as { runId: string }[];
    expect(listed.map(({ runId }) => runId)).toEqual(expect.arrayContaining([ids.waiting, ids.completed]));
    expect(await typesOf(ids.waiting)).toContain("interrupt.requested");
    const poll = await host.ask("GET", `/v1/runs/${ids.waiting}/events/poll?timeout=1`);
    expect(poll.statusCode).toBe(200);
    const values = await host.ask("GET", `/v1/runs/${ids.waiting}/events?streamMode=values`);
    expect(expectError(values, "run_too_large")).toMatchObject({ runId: ids.waiting });
    const inbox = await host.ask("GET", "/v1/host/assay/inbox");
    expect(inbox.statusCode, inbox.payload).toBe(200);
    expect(inbox.payload).not.toContain(ids.waiting);
  });

  test("one that comes due fails with run_too_large and keeps its log, and other runs complete", async () => {
    const small = await gates.start("noop");
    await gates.until(small, ({ status }) => status === "completed");
    await gates.until(ids.sleeping, ({ status }) => status === "failed");
    expect(await snapshot(ids.sleeping)).toMatchObject({ status: "failed", error: { code: "run_too_large" } });
    expect((await typesOf(ids.sleeping)).slice(-2)).toEqual(["assay.state.dropped", "run.failed"]);
  });

  test("one that waits ends with the first command, and its gate leaves the inbox", async () => {
    const cancelled = await host.ask("POST", `/v1/runs/${ids.waiting}/cancel`, { json: {} });
    expect([cancelled.statusCode, cancelled.json().status]).toEqual([200, "failed"]);
    expect(await snapshot(ids.waiting)).toMatchObject({ status: "failed", error: { code: "run_too_large" } });
    expect((await gates.answer(ids.token, { action: "accept" })).statusCode).toBeGreaterThanOrEqual(400);
    expect((await snapshot(ids.token)).status).toBe("failed");
    expect(await store.interruptRows(ids.token)).toEqual({ interrupts: [], votes: [] });
  });

  test("one that has completed is read and deleted, and one that waits once it has ended", async () => {
    expect(await snapshot(ids.completed)).toMatchObject({ status: "completed", stateOmitted: {} });
    expect((await host.ask("DELETE", `/v1/host/assay/runs/${ids.completed}`)).statusCode).toBe(200);
    expectError(await host.ask("GET", `/v1/runs/${ids.completed}`), "not_found");
    const path = `/v1/host/assay/runs/${ids.deleted}`;
    expectError(await host.ask("DELETE", path), "run_state_conflict");
    await host.ask("POST", `/v1/runs/${ids.deleted}/cancel`, { json: {} });
    expect((await host.ask("DELETE", path)).statusCode).toBe(200);
  });

  test("the children of one end with it", async () => {
    expect((await snapshot(ids.above)).childRuns).toMatchObject([{ runId: ids.child, nodeId: "sub" }]);
    await host.ask("POST", `/v1/runs/${ids.above}/cancel`, { json: {} });
    expect(await snapshot(ids.above)).toMatchObject({ status: "failed", error: { code: "run_too_large" } });
    expect((await snapshot(ids.child)).status).toBe("cancelled");
    await expectAllRebuilt(store);
  });
});
