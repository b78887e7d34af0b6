import type { Store } from "../../store/port/store.ts";
import type { Handler } from "../pipeline/handler.ts";
import { type RouteStats, renderMetrics, type Sample } from "./metric-registry.ts";

export interface MetricSources {
  readonly store: Pick<Store, "countRuns">;
  readonly routes: readonly RouteStats[];
  openStreams(): number;
  readonly samples: readonly (() => readonly Sample[])[];
}

export function metricsRoute({ store, routes, openStreams, samples }: MetricSources): Handler {
  return async () => {
    const runs = Object.entries(await store.countRuns()).map(
      ([status, value]): Sample => ({
        name: "assay_runs",
        help: "Runs in the store, by status.",
        type: "gauge",
        value,
        labels: { status },
      }),
    );
    const streams: Sample = {
      name: "assay_event_streams_open",
      help: "Event streams being followed in this process.",
      type: "gauge",
      value: openStreams(),
    };
    const all = [streams, ...runs, ...samples.flatMap((read) => read())];
    return { status: 200, raw: renderMetrics(routes, all), contentType: "text/plain; version=0.0.4; charset=utf-8" };
  };
}
