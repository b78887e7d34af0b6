import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { Sample } from "./metric-registry.ts";

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
        {
          ...gauge("process_cpu_seconds_total", "Processor time, user and system.", (user + system) / 1e6),
          type: "counter",
        },
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

function gauge(name: string, help: string, value: number): Sample {
  return { name, help, type: "gauge", value };
}
