import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { NOW, newId, runWrite } from "../../testing/builders.ts";
import { ADA, begin, engineOn, register, scriptedEffect, until, workerOn } from "../../testing/engine.ts";
import { openGate } from "../../testing/gate-builders.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { workflow } from "../../testing/workflow.ts";
import { cancelRun } from "../runs/change-run.ts";
import { RunRoom } from "../worker/run-room.ts";
import { readInbox } from "./inbox.ts";

const TENANT = "t1";
let store: Store;
beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
});
afterEach(() => store.close());

/** A gate that waits for these, the n-th of all. */
async function gateFor(n: number, approver: string): Promise<string> {
  const asked = {
    interruptId: newId("int", NOW + n),
    data: { title: "Ship it?", actions: ["accept", "reject"], approversList: [approver] },
  };
  const built = openGate({ tenant: TENANT, atMs: NOW }, asked);
  const { workflowId, workflowHash: hash } = built.run;
  const definition = JSON.stringify(workflow({ id: workflowId, nodes: { gate: "core.approvalGate" } }));
  const workflows = [{ tenant: TENANT, workflowId, hash, definition, atMs: NOW }];
  const committed = await store.commit({ tenant: TENANT, workflows, runs: [runWrite(built)] });
  expect(committed).toEqual({ ok: true });
  return asked.interruptId;
}

describe("an inbox among thousands of gates that are for others", () => {
  test("is found in as many short pages as it takes", async () => {
    const host = hostAt(store);
    const others = Array.from({ length: 2300 }, (_, n) => gateFor(n, "somebody else"));
    const [first, ...rest] = await Promise.all([gateFor(50, "ada"), gateFor(2050, "ada"), gateFor(2299, "ada")]);
    await Promise.all(others);
    const ids = ({ items }: Awaited<ReturnType<typeof readInbox>>) => items.map(({ interruptId }) => interruptId);
    const page = await readInbox(host, ADA, {});
    expect(ids(page)).toEqual([first]);
    const { nextCursor: cursor = "" } = page;
    const next = await readInbox(host, ADA, { cursor });
    expect(ids(next)).toEqual(rest);
    expect(next).not.toHaveProperty("nextCursor");
  });
});

describe("an inbox of many gates", () => {
  test("is shown whole and in order, with a few runs in hand at a time", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 50; n++) ids.push(await gateFor(n, "ada"));
    const bare = hostAt(store);
    let reading = 0;
    let most = 0;
    const readRun: Store["readRun"] = async (...asked) => {
      most = Math.max(most, ++reading);
      return store.readRun(...asked).finally(() => reading--);
    };
    const { items } = await readInbox({ ...bare, store: { ...bare.store, readRun } }, ADA, { limit: 50 });
    expect(items.map(({ interruptId }) => interruptId)).toEqual(ids);
    expect(most).toBeLessThanOrEqual(8);
  });
});

describe("an inbox of gates of one run", () => {
  test("reads the run once, where there is room for it, and lets go of it", async () => {
    const nodes = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`gate${n}`, "core.approvalGate"]));
    const engine = engineOn(store);
    await register(engine, workflow({ id: "many", nodes }));
    const worker = workerOn(engine);
    const runId = await begin(engine, { workflowId: "many" });
    await until(store, runId, ({ status }) => status === "waiting-approval");
    await worker.stop(0);
    let reads = 0;
    const room = new RunRoom();
    const readRun: Store["readRun"] = async (visible, id) => {
      reads += 1;
      await visible.beforeLargeRead?.(1_000);
      expect(room.bytes.used).toBeGreaterThan(0);
      return store.readRun(visible, id);
    };
    const { items } = await readInbox({ ...engine, room, store: { ...engine.store, readRun } }, ADA, {});
    expect(items).toHaveLength(20);
    expect(reads).toBe(1);
    expect(room.bytes.used).toBe(0);
  });
});

describe("the gate of a run that is being cancelled", () => {
  test("is no longer offered, though the run has not ended yet", async () => {
    const effect = scriptedEffect("test.effect");
    const host = engineOn(store, [effect]);
    const worker = workerOn(host);
    await register(host, workflow({ id: "both", nodes: { gate: "core.approvalGate", slow: "test.effect" } }));
    const runId = await begin(host, { workflowId: "both" });
    await effect.called(1);
    await until(store, runId, ({ status }) => status === "waiting-approval");
    expect((await readInbox(host, ADA, {})).items).toMatchObject([{ runId }]);
    // Nobody is left to end it, so it stays as it is.
    await worker.stop(0);
    await cancelRun(host, { caller: ADA, runId, request: {}, record: () => undefined });
    expect((await store.readRun({ tenant: TENANT }, runId))?.status).toBe("cancelling");
    expect(await readInbox(host, ADA, {})).toEqual({ items: [] });
  });
});
