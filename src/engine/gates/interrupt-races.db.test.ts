import { afterAll, beforeAll, describe } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { engineOn, workerOn } from "../../testing/engine.ts";
import { gateRaces } from "../../testing/gate-races.ts";
import { createDatabase, type TestDatabase } from "../../testing/postgres.ts";
import type { Host } from "../host.ts";
import type { Worker } from "../worker/worker.ts";

describe("two hosts on one PostgreSQL", () => {
  const hosts: Host[] = [];
  let database: TestDatabase;
  let stores: Store[] = [];
  let workers: Worker[] = [];

  beforeAll(async () => {
    database = await createDatabase();
    const open = () => openPostgresStore({ url: database.url, poolSize: 4 });
    stores = await Promise.all([open(), open()]);
    const bare = stores.map((store) => engineOn(store));
    workers = bare.map((host) => workerOn(host));
    hosts.push(...bare.map((host, n): Host => ({ ...host, localWorker: workers[n] as Worker })));
  });
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.stop(0)));
    await Promise.all(stores.map((store) => store.close()));
    await database.drop();
  });

  gateRaces({ hosts, rounds: 20 });
});
