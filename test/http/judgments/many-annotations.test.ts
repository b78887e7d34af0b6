import { expect, test } from "vitest";
import type { Store } from "../../../src/store/port/store.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { testHost } from "../../../src/testing/host.ts";

test("the annotations of a run are read a few at a time, and all of them are given", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  const pages: number[] = [];
  const annotationsOfRun: Store["annotationsOfRun"] = async (...asked) => {
    const page = await store.annotationsOfRun(...asked);
    pages.push(page.length);
    return page;
  };
  const host = await testHost({ store: { ...store, annotationsOfRun } });
  const { runId } = (await host.ask("POST", "/v1/runs", { json: { workflowId: "noop" } })).json();
  for (let n = 0; n < 20; n++) {
    const json = { signal: { kind: "correction", correction: `${n}` } };
    expect((await host.ask("POST", `/v1/runs/${runId}/annotations`, { json })).statusCode).toBe(201);
  }
  const { annotations } = (await host.ask("GET", `/v1/runs/${runId}/annotations`)).json();
  expect(annotations).toHaveLength(20);
  expect(pages).toEqual([8, 8, 4]);
  await host.close();
});
