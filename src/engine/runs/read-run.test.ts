import { expect, test } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { ADA, begin, engineOn, register } from "../../testing/engine.ts";
import { workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import { listRuns } from "./read-run.ts";

const bench = workbench();

test("a page of large runs is shorter than asked for, and no run is left out", async () => {
  const host = engineOn(bench.store);
  const variables = [{ name: "text", type: "string" }] as const;
  const workflowId = await register(
    host,
    workflow({ id: "large", nodes: { a: "core.noop" }, variables: [...variables] }),
  );
  const text = "x".repeat(9_000_000);
  const runIds: string[] = [];
  for (let i = 0; i < 3; i++) runIds.unshift(await begin(host, { workflowId, inputs: { text } }));

  const first = await listRuns(host, ADA, { limit: 50 });
  expect(first.runs.map(({ runId }) => runId)).toEqual(runIds.slice(0, 2));
  const second = await listRuns(host, ADA, { limit: 50, cursor: String(first.nextCursor) });
  expect(second.runs.map(({ runId }) => runId)).toEqual(runIds.slice(2));
  expect(second).not.toHaveProperty("nextCursor");
});

test("pages of small runs are as long as asked for, across what is read at once", async () => {
  const host = engineOn(bench.store);
  const workflowId = await register(host, workflow({ id: "small", nodes: { a: "core.noop" } }));
  for (let i = 0; i < 120; i++) await begin(host, { workflowId });
  const first = await listRuns(host, ADA, { limit: 110 });
  expect(first.runs).toHaveLength(110);
  const second = await listRuns(host, ADA, { limit: 110, cursor: String(first.nextCursor) });
  expect(second.runs).toHaveLength(10);
  expect(second).not.toHaveProperty("nextCursor");
});

test("runs with a tag are found however far back they are, over more runs than one step looks at", async () => {
  const host = engineOn(bench.store);
  const workflowId = await register(host, workflow({ id: "tagged", nodes: { a: "core.noop" } }));
  const oldest = await begin(host, { workflowId, tags: ["rare"] });
  for (let i = 0; i < 1010; i++) await begin(host, { workflowId });
  const newest = await begin(host, { workflowId, tags: ["rare"] });
  const found = await listRuns(host, ADA, { limit: 2, tag: "rare" });
  expect(found.runs.map(({ runId }) => runId)).toEqual([newest, oldest]);
  const first = await listRuns(host, ADA, { limit: 1, tag: "rare" });
  expect(first.runs.map(({ runId }) => runId)).toEqual([newest]);
  const second = await listRuns(host, ADA, { limit: 1, tag: "rare", cursor: String(first.nextCursor) });
  expect(second.runs.map(({ runId }) => runId)).toEqual([oldest]);
});

test("a page of runs of some size is read a few at a time, and all of them are on it", async () => {
  const engine = engineOn(bench.store);
  const variables = [{ name: "text", type: "string" }] as const;
  const workflowId = await register(
    engine,
    workflow({ id: "some-size", nodes: { a: "core.noop" }, variables: [...variables] }),
  );
  const text = "x".repeat(100_000);
  const runIds: string[] = [];
  for (let i = 0; i < 60; i++) runIds.unshift(await begin(engine, { workflowId, inputs: { text } }));
  let most = 0;
  const listed: Store["listRuns"] = async (...asked) => {
    const runs = await bench.store.listRuns(...asked);
    most = Math.max(most, JSON.stringify(runs).length);
    return runs;
  };
  const host = { ...engine, store: { ...bench.store, listRuns: listed } };
  const page = await listRuns(host, ADA, { limit: 200, workflowId });
  expect(page.runs.map(({ runId }) => runId)).toEqual(runIds);
  expect(page).not.toHaveProperty("nextCursor");
  expect(most).toBeLessThan(1_000_000);
});

test.each([{}, { tag: "rare" }])(
  "pages that are asked for together are read in turns of their own: %j",
  async (filter) => {
    const engine = engineOn(bench.store);
    const workflowId = await register(
      engine,
      workflow({ id: `together-${Object.keys(filter).length}`, nodes: { a: "core.noop" } }),
    );
    await begin(engine, { workflowId, tags: ["rare"] });
    let turns = 0;
    const reads: number[] = [];
    const listed: Store["listRuns"] = (...asked) => {
      reads.push(turns);
      return bench.store.listRuns(...asked);
    };
    const host = { ...engine, store: { ...bench.store, listRuns: listed } };
    let isOver = false;
    const tick = () => {
      turns += 1;
      if (!isOver) setImmediate(tick);
    };
    setImmediate(tick);
    await Promise.all(Array.from({ length: 20 }, () => listRuns(host, ADA, { limit: 10, workflowId, ...filter })));
    isOver = true;
    expect(reads).toHaveLength(20);
    expect(new Set(reads).size).toBe(20);
  },
);
