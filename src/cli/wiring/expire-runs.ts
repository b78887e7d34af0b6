import type { Logger } from "pino";
import type { Host } from "../../engine/host.ts";
import { sweepExpiredRuns } from "../../engine/runs/delete-run.ts";
import type { Config } from "../settings/settings.ts";
import type { Shutdown } from "./shutdown.ts";

/** Removes runs when their time is over. */
export function expireRuns(host: Host, config: Config, log: Logger, shutdown: Shutdown): void {
  const sweep = sweepExpiredRuns(host, {
    defaultDays: config.runRetentionDays,
    everyMs: config.retentionSweepSeconds * 1000,
    onError: (error) => log.error({ err: error }, "retention"),
    onSwept: (runs) => log.info({ runs }, "retention is over"),
  });
  shutdown.add("retention", () => sweep.stop());
}
