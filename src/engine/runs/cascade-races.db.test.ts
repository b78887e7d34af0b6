import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { engineOn, workerOn } from "../../testing/engine.ts";
import { crowd, endsMeetCancel, fanOut, gated, type Hosts, manyEnd } from "../../testing/family-races.ts";
import { createDatabase, type TestDatabase } from "../../testing/postgres.ts";
import type { Host } from "../host.ts";
import type { Worker } from "../worker/worker.ts";

let database: TestDatabase;
let stores: Store[];
let workers: Worker[];
let hosts: Hosts;

beforeEach(async () => {
  database = await createDatabase();
  const open = () => openPostgresStore({ url: database.url, poolSize: 6 });
  stores = await Promise.all([open(), open()]);
  workers = [];
  const all = stores.map((store): Host => {
    const host = engineOn(store);
    const worker = workerOn(host);
    workers.push(worker);
    return { ...host, localWorker: worker };
  });
  hosts = { all };
  await gated(hosts, "leaf");
});

afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop(0)));
  await Promise.all(stores.map((store) => store.close()));
  await database.drop();
});

describe("the runs of one family in the hands of two hosts", () => {
  test("tell their parent of every end, however many come together", { timeout: 120_000 }, async () => {
    await fanOut(hosts, "parent", "leaf", 30);
    await Promise.all([1, 2].map(() => manyEnd(hosts, "parent", 30)));
  });

  test("have one end each when they end while their parent is cancelled", { timeout: 120_000 }, async () => {
    await fanOut(hosts, "parent", "leaf", 4);
    for (let seed = 1; seed <= 20; seed++) await endsMeetCancel(hosts, "parent", 4, seed);
  });

  test("come to an end on every level, whoever pauses, answers or cancels in between", {
    timeout: 180_000,
  }, async () => {
    await fanOut(hosts, "middle", "leaf", 3);
    await fanOut(hosts, "parent", "middle", 3, { onChildFailure: "absorb" });
    const ends = new Set<string>();
    for (let seed = 1; seed <= 8; seed++) ends.add((await crowd(hosts, "parent", seed)).status);
    expect(ends.has("completed")).toBe(true);
  });
});
