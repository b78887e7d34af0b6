import { afterAll, beforeAll, expect, test } from "vitest";
import type { Host } from "../../../src/engine/host.ts";
import { debugBundle } from "../../../src/engine/runs/debug-bundle.ts";
import { diffRuns } from "../../../src/engine/runs/diff-runs.ts";
import type { Run } from "../../../src/protocol/runs/run.ts";
import { ADA, until } from "../../../src/testing/engine.ts";
import { type TestHost, testHost } from "../../../src/testing/host.ts";
import { workflow } from "../../../src/testing/workflow.ts";

const NODES = 400;

let host: TestHost;
let run: Run;
beforeAll(async () => {
  host = await testHost({ worker: true });
  const nodes = Object.fromEntries(Array.from({ length: NODES }, (_, i) => [`n${i}`, "core.noop"]));
  const edges = Array.from({ length: NODES - 1 }, (_, i) => `n${i}>n${i + 1}`);
  await host.ask("POST", "/v1/workflows", { json: workflow({ id: "long", nodes, edges }) });
  const { runId } = (await host.ask("POST", "/v1/runs", { json: { workflowId: "long" } })).json();
  run = await until(host.store, runId, ({ endedAt }) => endedAt !== undefined);
}, 60_000);
afterAll(() => host.close());

/** The same host, and how many pages of logs and judgments it has read. */
function counting(): { readonly counted: Host; pages(): number } {
  let pages = 0;
  const annotationsOfRun: Host["store"]["annotationsOfRun"] = (...asked) => {
    pages += 1;
    return host.store.annotationsOfRun(...asked);
  };
  const readEvents: Host["store"]["readEvents"] = (...asked) => {
    pages += 1;
    return host.store.readEvents(...asked);
  };
  return { counted: { ...host.host, store: { ...host.store, readEvents, annotationsOfRun } }, pages: () => pages };
}

/** How many pages at most were read while nothing else could happen. */
async function mostAtOnce(work: Promise<unknown>, pages: () => number): Promise<number> {
  let most = 0;
  let going = true;
  void work.finally(() => {
    going = false;
  });
  for (let before = 0; going; before = pages()) {
    await new Promise(setImmediate);
    most = Math.max(most, pages() - before);
  }
  return most;
}

test("a bundle of a long log leaves room for other work", async () => {
  const { counted, pages } = counting();
  const bundle = debugBundle(counted, run, "1");
  expect(await mostAtOnce(bundle, pages)).toBeLessThan(4);
  expect(JSON.parse(await bundle).events).toHaveLength(run.version);
  expect(pages()).toBeGreaterThan(10);
});

test("a bundle of a run with many judgments leaves room for other work", async () => {
  const json = { signal: { kind: "rating", rating: 4 } };
  const judged = Array.from({ length: 400 }, () => host.ask("POST", `/v1/runs/${run.runId}/annotations`, { json }));
  await Promise.all(judged);
  const { counted, pages } = counting();
  const bundle = debugBundle(counted, run, "1");
  expect(await mostAtOnce(bundle, pages)).toBeLessThan(4);
  expect(JSON.parse(await bundle).annotations).toHaveLength(400);
});

test("bundles are made one at a time", async () => {
  const { counted, pages } = counting();
  const [first, second] = [debugBundle(counted, run, "1"), debugBundle(counted, run, "1")];
  await first;
  const halfway = pages();
  await second;
  expect(halfway).toBeLessThanOrEqual(pages() / 2 + 1);
});

test("a comparison of long logs leaves room for other work", async () => {
  const { counted, pages } = counting();
  const diff = diffRuns(counted, ADA, run.runId, run.runId);
  expect(await mostAtOnce(diff, pages)).toBeLessThan(4);
  expect(await diff).toMatchObject({ eventDiffs: [] });
  expect(pages()).toBe(4);
});

test("comparisons of one tenant are made one at a time, with room for both sides, and hold nothing while they wait", async () => {
  const { counted, pages } = counting();
  const taken: number[] = [];
  const sized = { ...run, stateBytes: 1_000_000 };
  const runOutlines: Host["store"]["runOutlines"] = async () => [sized];
  const readers = { ...ADA, beforeLargeRead: async (size: number) => void taken.push(size) };
  const large = { ...counted, store: { ...counted.store, runOutlines } };
  const [first, second] = [1, 2].map(() => diffRuns(large, readers, run.runId, run.runId));
  await first;
  expect([pages(), taken]).toEqual([4, [16_000_000]]);
  await second;
  expect([pages(), taken]).toEqual([8, [16_000_000, 16_000_000]]);
});
