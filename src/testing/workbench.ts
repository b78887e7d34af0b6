import { afterEach, beforeEach } from "vitest";
import type { Host } from "../engine/host.ts";
import type { Worker, WorkerSettings } from "../engine/worker/worker.ts";
import { isTerminal, type RunStatus } from "../protocol/runs/run-status.ts";
import type { Store } from "../store/port/store.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { ADA, workerOn } from "./engine.ts";

export const ended = (run: { readonly status: RunStatus }): boolean => isTerminal(run.status);

export const change = (runId: string, request: object = {}) => ({
  caller: ADA,
  runId,
  request,
  record: () => undefined,
});

/** A fresh store in memory for each test of the file, and workers that stop when the test does. */
export function workbench() {
  let store: Store;
  let workers: Worker[] = [];
  beforeEach(async () => {
    store = await openSqliteStore({ path: ":memory:" });
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.stop(0)));
    workers = [];
    await store.close();
  });
  return {
    get store() {
      return store;
    },
    work(host: Host, settings: Partial<WorkerSettings> = {}): Worker {
      const worker = workerOn(host, settings);
      workers.push(worker);
      return worker;
    },
  };
}
