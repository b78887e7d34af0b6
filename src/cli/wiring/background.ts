import type { Logger } from "pino";
import { sweepHeldEvents } from "../../engine/gates/held-events.ts";
import type { Host } from "../../engine/host.ts";
import { exportJudgments } from "../../engine/otlp/exporter.ts";
import { sweepQueues } from "../../engine/queues/fill-queue.ts";
import { sweepExpiredRuns } from "../../engine/runs/delete-run.ts";
import { atMostEvery } from "../../engine/shared/once-only.ts";
import { type Deliveries, startDeliveries } from "../../engine/webhooks/dispatcher.ts";
import { RETRY_DEFAULTS } from "../../engine/webhooks/retry-policy.ts";
import { correctTimes } from "../../engine/worker/steady-clock.ts";
import { startWorker, type Worker } from "../../engine/worker/worker.ts";
import { counter, gauge, type Sample } from "../../http/routes/metrics.ts";
import type { Store } from "../../store/port/store.ts";
import { packageVersion } from "../paths.ts";
import { otlpHeaders, otlpUrl } from "../settings/setting-formats.ts";
import type { Config } from "../settings/settings.ts";
import { reportTo } from "./log.ts";
import type { Shutdown } from "./shutdown.ts";

/** The interval of the sweep for held events, which finds only events that a process left behind when it was killed. */
const HELD_EVENTS_EVERY_MS = 5000;

/** Executes runs until the shutdown, which returns unfinished runs to the queue. */
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
    onError: reportTo(log, "worker"),
  });
  const times = correctTimes(host).then(
    (runs) => (runs > 0 ? log.warn({ runs }, "the clock was far ahead: times of runs were corrected") : undefined),
    reportTo(log, "times of runs"),
  );
  shutdown.add("times of runs", () => times);
  const held = sweepHeldEvents(host, { everyMs: HELD_EVENTS_EVERY_MS, onError: reportTo(log, "held events") });
  shutdown.add("held events", () => held.stop());
  shutdown.add("worker", (remainingMs) => worker.stop(remainingMs));
  return worker;
}

export function workerSamples(worker: Worker): Sample[] {
  const { inHand, claimed, handedOver, leasesLost } = worker.stats();
  return [
    gauge("assay_worker_runs", "Runs this process is executing.", inHand),
    counter("assay_worker_claimed_total", "Runs taken from the queue.", claimed),
    counter(
      "assay_worker_handed_over_total",
      "Runs taken from the request that created them, without the queue.",
      handedOver,
    ),
    counter(
      "assay_worker_leases_lost_total",
      "Runs that another worker took over while this one had them.",
      leasesLost,
    ),
  ];
}

/** Bounds the time that a lane of waiting deliveries takes, in units of the longest attempt. */
const LEASE_ATTEMPTS = 12;
const DELIVERY_SWEEP_MS = 1000;
const IN_HAND_MAX = 512;

interface DeliveryPart {
  /** Starts to send what the outbox holds. `ownUrl` is where this process listens; "" where it does not. */
  start(ownUrl: string): void;
  samples(): readonly Sample[];
}

/** Sends webhooks and callbacks, from its start until the shutdown, which returns unsent deliveries to the outbox. */
export function deliveryPart(host: Host, config: Config, log: Logger, shutdown: Shutdown): DeliveryPart {
  let deliveries: Deliveries | undefined;
  shutdown.add("deliveries", (remainingMs) => deliveries?.stop(remainingMs));
  return {
    start(ownUrl) {
      deliveries = startDeliveries(host, {
        ...RETRY_DEFAULTS,
        attemptsMax: config.webhookAttempts,
        firstMs: config.webhookRetryMs,
        maxMs: config.webhookRetryMaxMs,
        circuitFirstMs: Math.min(RETRY_DEFAULTS.circuitFirstMs, config.webhookRetryMaxMs),
        circuitMaxMs: Math.min(RETRY_DEFAULTS.circuitMaxMs, config.webhookRetryMaxMs),
        owner: host.newId("wrk"),
        leaseMs: LEASE_ATTEMPTS * config.webhookTimeoutMs,
        sweepMs: DELIVERY_SWEEP_MS,
        inHandMax: IN_HAND_MAX,
        publicUrl: config.publicUrl ?? ownUrl,
        chance: Math.random,
        onError: reportTo(log, "deliveries"),
      });
    },
    samples() {
      if (deliveries === undefined) return [];
      const { inHand, delivered, failed, dead } = deliveries.stats();
      return [
        gauge("assay_deliveries", "Deliveries this process has in hand.", inHand),
        counter("assay_deliveries_delivered_total", "Deliveries that a receiver took.", delivered),
        counter("assay_deliveries_failed_total", "Attempts of a delivery that failed.", failed),
        counter("assay_deliveries_dead_total", "Deliveries that were given up.", dead),
      ];
    },
  };
}

const EXPORT_BATCH = 200;
const EXPORT_SWEEP_MS = 5000;
const EXPORT_RETRY_FIRST_MS = 1000;
const EXPORT_RETRY_MAX_MS = 60_000;
/** The interval between log lines about the same reason. */
const REPORT_EVERY_MS = 60_000;

/** Exports judgments until the shutdown, where a receiver is configured. Returns its metrics. */
export function startOtlp(host: Host, config: Config, log: Logger, shutdown: Shutdown): () => readonly Sample[] {
  if (config.otlpEndpoint === undefined) return () => [];
  const mayReport = atMostEvery(REPORT_EVERY_MS);
  const exporting = exportJudgments(host, {
    url: otlpUrl(config.otlpEndpoint),
    headers: config.otlpHeaders === undefined ? {} : otlpHeaders(config.otlpHeaders),
    content: config.otlpContent,
    source: { service: "assay", version: packageVersion(), scope: "assay.judgments" },
    batchMax: EXPORT_BATCH,
    sweepMs: EXPORT_SWEEP_MS,
    retryFirstMs: EXPORT_RETRY_FIRST_MS,
    retryMaxMs: EXPORT_RETRY_MAX_MS,
    chance: Math.random,
    onTrouble: (reason) => {
      if (mayReport(reason, Date.now())) log.warn({ reason }, "export of judgments");
    },
    onError: reportTo(log, "export of judgments"),
  });
  shutdown.add("export of judgments", () => exporting.stop());
  return () => {
    const { exported, rejected, failures } = exporting.stats();
    return [
      counter("assay_otlp_exported_total", "Judgments that the OTLP receiver took.", exported),
      counter("assay_otlp_rejected_total", "Judgments that the OTLP receiver refused for good.", rejected),
      counter("assay_otlp_failures_total", "Attempts to export that failed.", failures),
    ];
  };
}

/** Deletes runs at the end of their retention. */
export function expireRuns(host: Host, config: Config, log: Logger, shutdown: Shutdown): void {
  const sweep = sweepExpiredRuns(host, {
    defaultDays: config.runRetentionDays,
    everyMs: config.retentionSweepSeconds * 1000,
    onError: reportTo(log, "retention"),
    onSwept: (runs) => log.info({ runs }, "retention is over"),
  });
  shutdown.add("retention", () => sweep.stop());
}

/** Fills review queues by their queries, also without requests. */
export function fillQueues(host: Host, config: Config, log: Logger, shutdown: Shutdown): void {
  if (!host.capabilities.has("feedback")) return;
  const sweep = sweepQueues(host, {
    everyMs: config.queueFillSeconds * 1000,
    onError: reportTo(log, "review queues"),
  });
  shutdown.add("review queues", () => sweep.stop());
}

const PURGE_EVERY_MS = 600_000;

/** Deletes records with a limited time: answers to repeated requests, records of effects. */
export function purgePeriodically(store: Store, log: Logger, shutdown: Shutdown): void {
  let purging: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    purging = store.purge(Date.now()).catch((error: unknown) => log.warn({ err: error }, "purge"));
  }, PURGE_EVERY_MS);
  shutdown.add("purge", async () => {
    clearInterval(timer);
    await purging;
  });
}
