import { expect, test } from "vitest";
import type { Run } from "../../protocol/runs/run.ts";
import type { Store } from "../../store/port/store.ts";
import { withLargeCommitsInTurn } from "../families/large-commits.ts";
import { RunRoom } from "./run-room.ts";

/** A store with one run that is too large to load, and how often its state was parsed. */
function storeWith(status: Run["status"]) {
  const head = { runId: "run-1", status, owner: { tenant: "t", workspace: "w" }, stateOmitted: { bytes: 9e9 } } as Run;
  const parsed = { times: 0, atOnce: 0, most: 0 };
  const now = { bytes: 9e9 };
  const store = {
    readRun: async ({ beforeLargeRead }: Parameters<Store["readRun"]>[0]) => beforeLargeRead?.(now.bytes),
    runOutlines: async () => [{ runId: "run-1", status, stateBytes: now.bytes }],
    readHead: async () => {
      parsed.times += 1;
      parsed.most = Math.max(parsed.most, ++parsed.atOnce);
      await new Promise(setImmediate);
      parsed.atOnce -= 1;
      return { ...head, stateOmitted: { ...now } };
    },
  } as unknown as Store;
  return { store: withLargeCommitsInTurn(store, new RunRoom()), parsed, now };
}

test("the head of a run that has ended is read once, until the run is another", async () => {
  const { store, parsed, now } = storeWith("completed");
  const reads = Array.from({ length: 20 }, () => store.readRun({ tenant: "t" }, "run-1"));
  for (const run of await Promise.all(reads)) expect(run).toMatchObject({ runId: "run-1" });
  expect(parsed.times).toBe(1);
  now.bytes = 8e9;
  expect((await store.readRun({ tenant: "t" }, "run-1"))?.stateOmitted).toEqual({ bytes: 8e9 });
  expect(parsed.times).toBe(2);
});

test("a head that was kept is not shown to another workspace", async () => {
  const { store, parsed } = storeWith("completed");
  await store.readRun({ tenant: "t", workspace: "w" }, "run-1");
  await store.readRun({ tenant: "t", workspace: "other" }, "run-1");
  expect(parsed.times).toBe(2);
});

test("heads of runs that go on are read each time, and one at a time", async () => {
  const { store, parsed } = storeWith("running");
  await Promise.all(Array.from({ length: 5 }, () => store.readRun({ tenant: "t" }, "run-1")));
  expect(parsed).toMatchObject({ times: 5, most: 1 });
});
