import type { Logger } from "pino";
import { sweepHeldEvents } from "../../engine/gates/held-events.ts";
import type { Host } from "../../engine/host.ts";
import { correctTimes } from "../../engine/worker/steady-clock.ts";
import { startWorker, type Worker } from "../../engine/worker/worker.ts";
import type { Config } from "../settings/settings.ts";
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
  const times = correctTimes(host).then(
    (runs) => (runs > 0 ? log.warn({ runs }, "the clock was far ahead: times of runs were corrected") : undefined),
    (error: unknown) => log.error({ err: error }, "times of runs"),
  );
  shutdown.add("times of runs", () => times);
  const held = sweepHeldEvents(host, {
    everyMs: HELD_EVENTS_EVERY_MS,
    onError: (error) => log.error({ err: error }, "held events"),
  });
  shutdown.add("held events", () => held.stop());
  shutdown.add("worker", (remainingMs) => worker.stop(remainingMs));
  return worker;
}
