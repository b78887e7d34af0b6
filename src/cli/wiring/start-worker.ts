import type { Logger } from "pino";
import type { Host } from "../../engine/host.ts";
import { startWorker, type Worker } from "../../engine/worker.ts";
import type { Config } from "../settings.ts";
import type { Shutdown } from "./shutdown.ts";

/** Starts executing runs, until the shutdown hands what is left back to the queue. */
export function workOn(host: Host, config: Config, log: Logger, shutdown: Shutdown): Worker {
  const worker = startWorker(host, {
    workerId: host.newId("wrk"),
    leaseMs: config.leaseMs,
    renewMs: config.leaseRenewMs,
    sweepMs: config.sweepMs,
    concurrency: config.workerConcurrency,
    onError: (error) => log.error({ err: error }, "worker"),
  });
  shutdown.add("worker", (remainingMs) => worker.stop(remainingMs));
  return worker;
}
