import { join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { engineOn, workerOn } from "../../testing/engine.ts";
import { gateRaces } from "../../testing/gate-races.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import type { Host } from "../host.ts";
import type { Worker } from "../worker/worker.ts";

describe("a host on one file", () => {
  const hosts: Host[] = [];
  let store: Store;
  let worker: Worker;

  beforeAll(async () => {
    store = await openSqliteStore({ path: join(tempDir(), "assay.db") });
    const host = engineOn(store);
    worker = workerOn(host);
    hosts.push({ ...host, localWorker: worker });
  });
  afterAll(async () => {
    await worker.stop(0);
    await store.close();
  });

  gateRaces({ hosts, rounds: 50 });
});
