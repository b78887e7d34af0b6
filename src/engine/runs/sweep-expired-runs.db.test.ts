import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EventDraft } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Store } from "../../store/port/store.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import { HOUR, NOW, newId, newTenant, next, runCompleted, startedRun, workflowWrite } from "../../testing/builders.ts";
import { accept, save } from "../../testing/store-contract/subject.ts";
import { removeExpiredRuns, sweepExpiredRuns } from "./delete-run.ts";

const DAY = 24 * HOUR;

describe.each(BOTH_STORES)("runs that are kept for a time on %s", (_, open) => {
  let store: Store;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    store = opened.store;
    drop = opened.drop;
  });
  afterAll(async () => {
    await store.close();
    await drop();
  });

  const sweep = (defaultDays: number) => removeExpiredRuns({ store, nowMs: () => NOW }, defaultDays);

  async function ended(tenant: string, workflowId: string, daysAgo: number): Promise<Run> {
    const atMs = NOW - daysAgo * DAY;
    const started = startedRun({ tenant, workflowId, atMs: atMs - HOUR, runId: newId("run", atMs - HOUR) });
    const over = next(started, atMs, runCompleted());
    await save(store, { run: over.run, events: [...started.events, ...over.events] });
    return over.run;
  }

  async function register(tenant: string, workflowId: string, retentionDays: number): Promise<void> {
    const definition = JSON.stringify({ id: workflowId, settings: { retentionDays } });
    await accept(store, {
      tenant,
      workflows: [{ ...workflowWrite(tenant, workflowId), definition, hash: newId("key") }],
    });
  }

  const left = async (runs: readonly Run[]) => {
    const found = await Promise.all(runs.map(({ owner, runId }) => store.readRun(owner, runId)));
    return found.map((run) => run !== undefined);
  };

  test("go when the time of their workflow is over, or else that of the host", async () => {
    const tenant = newTenant();
    await register(tenant, "week", 7);
    await register(tenant, "ever", 0);
    const runs = [
      await ended(tenant, "week", 8),
      await ended(tenant, "week", 6),
      await ended(tenant, "ever", 4000),
      await ended(tenant, "plain", 31),
      await ended(tenant, "plain", 29),
    ];
    const started = startedRun({ tenant, workflowId: "plain", atMs: NOW - 400 * DAY });
    await save(store, started);
    expect(await sweep(30)).toBe(2);
    expect(await left([...runs, started.run])).toEqual([false, true, true, false, true, true]);
    const tombstone = await store.readTombstone({ tenant }, runs[0]?.runId ?? "");
    expect(tombstone).toMatchObject({ workflowId: "week", version: 2, reason: "expired", atMs: NOW });
    const entries = await store.readAudit(tenant, 1, 9, 9);
    expect(entries).toMatchObject([
      { actor: "host", action: "run.deleted", details: { reason: "expired", events: 2 } },
      { actor: "host", action: "run.deleted", details: { reason: "expired", events: 2 } },
    ]);
    expect(await sweep(30)).toBe(0);
  });

  test("stay for ever where nobody says otherwise", async () => {
    const run = await ended(newTenant(), "plain", 4000);
    expect(await sweep(0)).toBe(0);
    expect(await left([run])).toEqual([true]);
  });

  test("go by what the newest definition says", async () => {
    const tenant = newTenant();
    await register(tenant, "changing", 0);
    const run = await ended(tenant, "changing", 20);
    await sweep(0);
    expect(await left([run])).toEqual([true]);
    await register(tenant, "changing", 10);
    await sweep(0);
    expect(await left([run])).toEqual([false]);
  });

  test("stay while something goes on below them", async () => {
    const tenant = newTenant();
    await register(tenant, "top", 1);
    const childRunId = newId("run", NOW - 9 * DAY);
    const started = startedRun({ tenant, workflowId: "top", atMs: NOW - 10 * DAY });
    const dispatched: EventDraft = {
      type: "assay.child.started",
      nodeId: "a",
      payload: { nodeId: "a", childRunId, childWorkflowId: "sub", waits: false, propagates: false, takes: [] },
    };
    const top = next(started, NOW - 9 * DAY, dispatched, runCompleted());
    await save(store, { run: top.run, events: [...started.events, ...top.events] });
    const parent = { runId: top.run.runId, nodeId: "a", depth: 1, rootRunId: top.run.runId };
    const child = startedRun({ tenant, workflowId: "sub", runId: childRunId, parent, atMs: NOW - 9 * DAY });
    await save(store, child);
    expect(await sweep(0)).toBe(0);
    expect(await left([top.run, child.run])).toEqual([true, true]);
    await save(store, next(child, NOW - HOUR, runCompleted()));
    expect(await sweep(0)).toBe(2);
    expect(await left([top.run, child.run])).toEqual([false, false]);
  });

  test("are looked for again and again, until that is stopped", async () => {
    const tenant = newTenant();
    await register(tenant, "day", 1);
    const swept: number[] = [];
    const settings = { defaultDays: 0, everyMs: 5, onError: (error: unknown) => expect.fail(String(error)) };
    const { stop } = sweepExpiredRuns(
      { store, nowMs: () => NOW },
      { ...settings, onSwept: (runs) => swept.push(runs) },
    );
    await ended(tenant, "day", 2);
    await expect.poll(() => swept).toEqual([1]);
    await ended(tenant, "day", 2);
    await expect.poll(() => swept).toEqual([1, 1]);
    await stop();
    const run = await ended(tenant, "day", 2);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await left([run])).toEqual([true]);
  });
});
