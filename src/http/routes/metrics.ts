import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { Store } from "../../store/port/store.ts";
import type { Handler } from "../pipeline/handler.ts";

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

/** One number with its name; samples of one name stand together in the output. */
export interface Sample {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly value: number;
  readonly labels?: Readonly<Record<string, string | number>>;
}

// From a cached read to a commit on a slow disk.
const BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Requests of one route: how many by status, and how long they took. */
export class RouteStats {
  readonly method: string;
  readonly route: string;
  readonly statuses = new Map<number, number>();
  readonly buckets: number[] = BOUNDS_SECONDS.map(() => 0);
  sumSeconds = 0;
  count = 0;

  constructor(method: string, route: string) {
    this.method = method;
    this.route = route;
  }

  observe(status: number, seconds: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    this.sumSeconds += seconds;
    this.count++;
    for (let i = 0; i < BOUNDS_SECONDS.length; i++) {
      if (seconds <= (BOUNDS_SECONDS[i] ?? 0)) {
        this.buckets[i] = (this.buckets[i] ?? 0) + 1;
        return;
      }
    }
  }
}

/** The Prometheus text format, version 0.0.4. */
export function renderMetrics(routes: readonly RouteStats[], samples: readonly Sample[]): string {
  const seen = routes.filter((route) => route.count > 0);
  return [...requestCounts(seen), ...durations(seen), ...grouped(samples), ""].join("\n");
}

function requestCounts(routes: readonly RouteStats[]): string[] {
  const name = "assay_http_requests_total";
  const lines = routes.flatMap(({ method, route, statuses }) =>
    [...statuses].map(([status, count]) => line(name, { method, route, status }, count)),
  );
  return [...heading(name, "counter", "Requests answered, by route and status."), ...lines];
}

function durations(routes: readonly RouteStats[]): string[] {
  const name = "assay_http_request_duration_seconds";
  const lines = routes.flatMap(({ method, route, buckets, sumSeconds, count }) => {
    let below = 0;
    const counts = BOUNDS_SECONDS.map((bound, i) => {
      below += buckets[i] ?? 0;
      return line(`${name}_bucket`, { method, route, le: bound }, below);
    });
    return [
      ...counts,
      line(`${name}_bucket`, { method, route, le: "+Inf" }, count),
      line(`${name}_sum`, { method, route }, sumSeconds),
      line(`${name}_count`, { method, route }, count),
    ];
  });
  return [...heading(name, "histogram", "From the request's headers to the answer being handed over."), ...lines];
}

function grouped(samples: readonly Sample[]): string[] {
  const byName = new Map<string, Sample[]>();
  for (const sample of samples) {
    const group = byName.get(sample.name);
    if (group) group.push(sample);
    else byName.set(sample.name, [sample]);
  }
  return [...byName].flatMap(([name, group]) => [
    ...heading(name, group[0]?.type ?? "gauge", group[0]?.help ?? ""),
    ...group.map(({ labels = {}, value }) => line(name, labels, value)),
  ]);
}

function heading(name: string, type: string, help: string): string[] {
  return [`# HELP ${name} ${help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}`, `# TYPE ${name} ${type}`];
}

function line(name: string, labels: Readonly<Record<string, string | number>>, value: number): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escapeLabel(String(text))}"`);
  return `${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${value}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

export interface ProcessSamples {
  read(): Sample[];
  stop(): void;
}

const RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;

/** Memory, processor time and how late the event loop is, since the scrape before. */
export function processSamples(): ProcessSamples {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  return {
    stop: () => delay.disable(),
    read() {
      const { rss, heapUsed, external } = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      const samples: Sample[] = [
        gauge("process_resident_memory_bytes", "Resident memory.", rss),
        gauge("nodejs_heap_size_used_bytes", "Heap in use.", heapUsed),
        gauge("nodejs_external_memory_bytes", "Memory of buffers and native objects.", external),
        counter("process_cpu_seconds_total", "Processor time, user and system.", (user + system) / 1e6),
        gauge("process_uptime_seconds", "Time since the process started.", process.uptime()),
        ...delays(delay),
      ];
      delay.reset();
      return samples;
    },
  };
}

function delays(delay: IntervalHistogram): Sample[] {
  // Before its first interval has passed the histogram is empty and says NaN.
  if (delay.count === 0) return [];
  const help = "How late timers fire, since the scrape before.";
  const name = "nodejs_eventloop_delay_seconds";
  return [50, 99].map((percentile) => ({
    ...gauge(name, help, delay.percentile(percentile) / NANOSECONDS),
    labels: { quantile: percentile / 100 },
  }));
}

export function counter(name: string, help: string, value: number): Sample {
  return { name, help, type: "counter", value };
}

export function gauge(name: string, help: string, value: number): Sample {
  return { name, help, type: "gauge", value };
}
