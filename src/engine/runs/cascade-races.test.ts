import { beforeEach, describe, expect, test } from "vitest";
import { engineOn } from "../../testing/engine.ts";
import { crowd, endsMeetCancel, fanOut, gated, type Hosts, manyEnd } from "../../testing/family-races.ts";
import { workbench } from "../../testing/workbench.ts";

const bench = workbench();
let hosts: Hosts;

beforeEach(async () => {
  const host = engineOn(bench.store);
  hosts = { all: [{ ...host, localWorker: bench.work(host) }] };
  await gated(hosts, "leaf");
});

describe("the runs of one family, when much happens at once", () => {
  test("tell their parent of every end, however many come together", { timeout: 60_000 }, async () => {
    await fanOut(hosts, "parent", "leaf", 50);
    await manyEnd(hosts, "parent", 50);
    await Promise.all([1, 2, 3, 4].map(() => manyEnd(hosts, "parent", 50)));
  });

  test("have one end each when they end while their parent is cancelled", { timeout: 60_000 }, async () => {
    await fanOut(hosts, "parent", "leaf", 4);
    for (let seed = 1; seed <= 40; seed++) await endsMeetCancel(hosts, "parent", 4, seed);
  });

  test("come to an end on every level, whoever pauses, answers or cancels in between", {
    timeout: 120_000,
  }, async () => {
    await fanOut(hosts, "middle", "leaf", 3);
    await fanOut(hosts, "parent", "middle", 3, { onChildFailure: "absorb" });
    const ends = new Set<string>();
    for (let seed = 1; seed <= 20; seed++) ends.add((await crowd(hosts, "parent", seed)).status);
    // Otherwise nobody meets anybody any more.
    expect([...ends].sort()).toEqual(["cancelled", "completed"]);
  });
});
