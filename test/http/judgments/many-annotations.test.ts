import { expect, test } from "vitest";
import type { Store } from "../../../src/store/port/store.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { testHost } from "../../../src/testing/host.ts";

test("large annotations are read a few at a time, and all of them are given", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  const pages: number[] = [];
  const annotationsOfRun: Store["annotationsOfRun"] = async (...asked) => {
    const page = await store.annotationsOfRun(...asked);
    pages.push(page.length);
    return page;
  };
  const host = await testHost({ store: { ...store, annotationsOfRun } });
  const { runId } = (await host.ask("POST", "/v1/runs", { json: { workflowId: "noop" } })).json();
  const correction = "ship it ".repeat(24_000);
  for (let n = 0; n < 22; n++) {
    const json = { signal: { kind: "correction", correction: `${n} ${correction}` } };
    expect((await host.ask("POST", `/v1/runs/${runId}/annotations`, { json })).statusCode).toBe(201);
  }
  const { annotations } = (await host.ask("GET", `/v1/runs/${runId}/annotations`)).json();
  expect(annotations).toHaveLength(22);
  expect(pages).toEqual([10, 10, 2]);

  const listed: string[] = [];
  const sizes: number[] = [];
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const query = `limit=100&order=oldest${cursor === undefined ? "" : `&cursor=${cursor}`}`;
    const page = (await host.ask("GET", `/v1/host/assay/annotations?${query}`)).json();
    listed.push(...page.annotations.map(({ annotationId }: { annotationId: string }) => annotationId));
    sizes.push(page.annotations.length);
    cursor = page.nextCursor;
  }
  expect(listed).toEqual(annotations.map(({ annotationId }: { annotationId: string }) => annotationId));
  expect(sizes).toEqual([11, 11]);
  await host.close();
});
