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
