import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Run } from "../../protocol/runs/run.ts";
import type { Store, Unit } from "../../store/port/store.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import { newOrder, payment, waitsForPayment } from "../../testing/external-events.ts";
import { GateClient } from "../../testing/gate-host.ts";
import { type TestHost, testHost } from "../../testing/host.ts";
import { expectAllRebuilt } from "../../testing/rebuilt.ts";
import { workflow } from "../../testing/workflow.ts";
import { withLargeCommitsInTurn } from "../families/large-commits.ts";
import { RunRoom } from "../worker/run-room.ts";

const KB = 1024;
const MB = 1024 * KB;
const CHILDREN = 8;
const TEXT = "x".repeat(500 * KB);
const LARGE_TEXT = "x".repeat(1.5 * MB);

const children = Object.fromEntries(
  Array.from({ length: CHILDREN }, (_, i) => [
    `sub${i}`,
    { typeId: "core.subWorkflow", config: { workflowId: "below", inputMapping: { text: "text" } } },
  ]),
);
const text = { name: "text", type: "string" as const, defaultValue: "" };

describe.each(BOTH_STORES)("families of large runs on %s", (_, open) => {
  const room = new RunRoom({ maxRunBytes: 2 * MB, maxBytesInHand: 256 * MB });
  let host: TestHost;
  let gates: GateClient;
  let drop: () => Promise<void>;
  /** The most bytes of runs in one commit. */
  let mostWritten = 0;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    const { store } = opened;
    const commit = (unit: Unit) => {
      const bytes = (unit.runs ?? []).reduce((sum, { run }) => sum + JSON.stringify(run).length, 0);
      mostWritten = Math.max(mostWritten, bytes);
      return store.commit(unit);
    };
    const guarded = withLargeCommitsInTurn({ ...store, commit } as Store, room);
    host = await testHost({
      store: guarded,
      host: { room, store: guarded },
      settings: { maxRequestBodyBytes: 8 * MB },
      worker: true,
    });
    gates = new GateClient(host);
    await gates.registerWorkflow(workflow({ id: "below", nodes: { gate: "core.approvalGate" }, variables: [text] }));
    await gates.registerWorkflow(
      workflow({
        id: "above",
        nodes: { ...children, gate: "core.approvalGate", fail: "core.fail" },
        edges: ["gate>fail"],
        variables: [text],
      }),
    );
    await gates.registerWorkflow(
      workflow({
        id: "sleepers",
        nodes: { a: { typeId: "core.delay", config: { ms: 400 } } },
      }),
    );
    await gates.registerWorkflow(
      workflow({
        id: "above-sleepers",
        nodes: Object.fromEntries(
          Object.keys(children).map((name) => [
            name,
            { typeId: "core.subWorkflow", config: { workflowId: "sleepers" } },
          ]),
        ),
        variables: [text],
      }),
    );
  }, 60_000);
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const childrenOf = async (runId: string): Promise<Run[]> => {
    const run = await host.store.readRun({ tenant: "t1" }, runId);
    const ids = Object.keys(run?.children ?? {});
    return Promise.all(ids.map(async (id) => (await host.store.readRun({ tenant: "t1" }, id)) as Run));
  };
  const familyThatWaits = async () => {
    const runId = await gates.start("above", "owner", { inputs: { text: TEXT } });
    await expect
      .poll(async () => (await childrenOf(runId)).filter(({ status }) => status === "waiting-approval").length, {
        timeout: 20_000,
      })
      .toBe(CHILDREN);
    return runId;
  };
  const allEnd = (runId: string, status: Run["status"]) =>
    expect
      .poll(async () => (await childrenOf(runId)).map((run) => run.status), { timeout: 20_000 })
      .toEqual(Array.from({ length: CHILDREN }, () => status));

  test("are cancelled in several commits, and all of them end", async () => {
    const runId = await familyThatWaits();
    mostWritten = 0;
    const answer = await host.ask("POST", `/v1/runs/${runId}/cancel`, { json: {} });
    expect(answer.statusCode, answer.payload).toBe(200);
    await gates.until(runId, ({ status }) => status === "cancelled");
    await allEnd(runId, "cancelled");
    expect(mostWritten).toBeLessThan(2.5 * MB);
  }, 60_000);

  test("fail in several commits, and the children end with their parent", async () => {
    const runId = await familyThatWaits();
    mostWritten = 0;
    const answer = await gates.answer(runId, { action: "accept" });
    expect(answer.statusCode, answer.payload).toBe(200);
    await gates.until(runId, ({ status }) => status === "failed");
    await allEnd(runId, "cancelled");
    expect(mostWritten).toBeLessThan(2.5 * MB);
  }, 60_000);

  test("are shown with what their children are, without reading the children", async () => {
    const runId = await familyThatWaits();
    const [child] = await childrenOf(runId);
    const { readRun } = host.host.store;
    const read: string[] = [];
    (host.host.store as { readRun: Store["readRun"] }).readRun = (visible, id) => {
      read.push(id);
      return readRun(visible, id);
    };
    try {
      const { childRuns } = await gates.snapshot(runId);
      expect(childRuns?.map(({ status }) => status)).toContain("waiting-approval");
      expect(read).not.toContain(child?.runId);
    } finally {
      (host.host.store as { readRun: Store["readRun"] }).readRun = readRun;
    }
    await host.ask("POST", `/v1/runs/${runId}/cancel`, { json: {} });
    await allEnd(runId, "cancelled");
  }, 60_000);

  test("that wait for one event together get it up to the size of the largest run, and no larger", async () => {
    await gates.registerWorkflow(waitsForPayment("waits"));
    const waiting = async (count: number) => {
      const correlation = newOrder();
      const metadata = { text: TEXT };
      const start = () => gates.waiting("waits", "owner", { inputs: { correlation }, metadata });
      await Promise.all(Array.from({ length: count }, start));
      return host.ask("POST", "/v1/host/assay/external-events", { json: payment(correlation) });
    };
    expect((await waiting(3)).statusCode).toBe(200);
    const refused = await waiting(CHILDREN);
    expect(refused.statusCode).toBe(400);
    expect(refused.json().message ?? refused.payload).toContain("narrower");
  }, 60_000);

  test("are written one at a time, where many children of a large run end at once", async () => {
    let held = 0;
    let most = 0;
    const { largeFamily } = room;
    room.largeFamily = async () => {
      const done = await largeFamily.call(room);
      most = Math.max(most, ++held);
      return () => {
        held -= 1;
        done();
      };
    };
    const ids = await Promise.all(
      Array.from({ length: 3 }, () => gates.start("above-sleepers", "owner", { inputs: { text: LARGE_TEXT } })),
    );
    for (const runId of ids) await gates.until(runId, ({ status }) => status === "completed");
    expect(most).toBe(1);
    await expectAllRebuilt(host.store);
  }, 60_000);
});
