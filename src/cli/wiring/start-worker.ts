import type { Logger } from "pino";
import type { Host } from "../../engine/host.ts";
import { sweepHeldEvents } from "../../engine/sweep-held-events.ts";
import { startWorker, type Worker } from "../../engine/worker.ts";
import type { Config } from "../settings.ts";
import type { Shutdown } from "./shutdown.ts";

/** Only what a process that died in between has left lying waits for this. */
const HELD_EVENTS_EVERY_MS = 5000;

/** Starts executing runs, until the shutdown hands what is left back to the queue. */
export function workOn(
  host: Host,
  config: Config,
  log: Logger,
  shutdown: Shutdown,
  { paced = false }: { readonly paced?: boolean } = {},
): Worker {
  const worker = startWorker(host, {
    workerId: host.newId("wrk"),
    leaseMs: config.leaseMs,
    renewMs: config.leaseRenewMs,
    sweepMs: config.sweepMs,
    concurrency: config.workerConcurrency,
    paced,
    onError: (error) => log.error({ err: error }, "worker"),
  });
  const held = sweepHeldEvents(host, {
    everyMs: HELD_EVENTS_EVERY_MS,
    onError: (error) => log.error({ err: error }, "held events"),
  });
  shutdown.add("held events", () => held.stop());
  shutdown.add("worker", (remainingMs) => worker.stop(remainingMs));
  return worker;
}
