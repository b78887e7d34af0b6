import type { Worker } from "../../engine/worker/worker.ts";
import type { Sample } from "../../http/routes/metrics.ts";

/** What the worker of this process is doing, for the metrics route. */
export function workerSamples(worker: Worker): Sample[] {
  const { inHand, claimed, handedOver, leasesLost } = worker.stats();
  return [
    { name: "assay_worker_runs", help: "Runs this process is executing.", type: "gauge", value: inHand },
    { name: "assay_worker_claimed_total", help: "Runs taken from the queue.", type: "counter", value: claimed },
    {
      name: "assay_worker_handed_over_total",
      help: "Runs taken from the request that created them, without the queue.",
      type: "counter",
      value: handedOver,
    },
    {
      name: "assay_worker_leases_lost_total",
      help: "Runs that another worker took over while this one had them.",
      type: "counter",
      value: leasesLost,
    },
  ];
}
