import type { Logger } from "pino";
import type { Host } from "../../engine/host.ts";
import { sweepQueues } from "../../engine/queues/sweep-queues.ts";
import type { Config } from "../settings/settings.ts";
import type { Shutdown } from "./shutdown.ts";

/** Review queues take in what their queries find, also while nobody asks. */
export function fillQueues(host: Host, config: Config, log: Logger, shutdown: Shutdown): void {
  if (!host.capabilities.has("feedback")) return;
  const sweep = sweepQueues(host, {
    everyMs: config.queueFillSeconds * 1000,
    onError: (error) => log.error({ err: error }, "review queues"),
  });
  shutdown.add("review queues", () => sweep.stop());
}
