import type { Logger } from "pino";
import type { Host } from "../../engine/host.ts";
import { exportJudgments, type JudgmentExport } from "../../engine/otlp/exporter.ts";
import { atMostEvery } from "../../engine/shared/at-most-every.ts";
import type { Sample } from "../../http/routes/metrics.ts";
import { otlpHeaders, otlpUrl } from "../settings/setting-formats.ts";
import type { Config } from "../settings/settings.ts";
import { packageVersion } from "../version.ts";
import type { Shutdown } from "./shutdown.ts";

const BATCH = 200;
const SWEEP_MS = 5000;
const RETRY_FIRST_MS = 1000;
const RETRY_MAX_MS = 60_000;
/** One line a minute says that the receiver is away; a thousand say no more. */
const COMPLAIN_EVERY_MS = 60_000;

/** Exports judgments where a receiver is named, from now until the shutdown. Gives what the metrics say of it. */
export function startOtlp(host: Host, config: Config, log: Logger, shutdown: Shutdown): () => readonly Sample[] {
  if (config.otlpEndpoint === undefined) return () => [];
  const mayComplain = atMostEvery(COMPLAIN_EVERY_MS);
  const exporting = exportJudgments(host, {
    url: otlpUrl(config.otlpEndpoint),
    headers: config.otlpHeaders === undefined ? {} : otlpHeaders(config.otlpHeaders),
    content: config.otlpContent,
    source: { service: "assay", version: packageVersion(), scope: "assay.judgments" },
    batchMax: BATCH,
    sweepMs: SWEEP_MS,
    retryFirstMs: RETRY_FIRST_MS,
    retryMaxMs: RETRY_MAX_MS,
    chance: Math.random,
    onTrouble: (reason) => {
      if (mayComplain(reason, Date.now())) log.warn({ reason }, "export of judgments");
    },
    onError: (error) => log.error({ err: error }, "export of judgments"),
  });
  shutdown.add("export of judgments", () => exporting.stop());
  return () => samplesOf(exporting);
}

function samplesOf(exporting: JudgmentExport): Sample[] {
  const { exported, rejected, failures } = exporting.stats();
  const counter = (name: string, help: string, value: number): Sample => ({ name, help, type: "counter", value });
  return [
    counter("assay_otlp_exported_total", "Judgments that the OTLP receiver took.", exported),
    counter("assay_otlp_rejected_total", "Judgments that the OTLP receiver refused for good.", rejected),
    counter("assay_otlp_failures_total", "Attempts to export that failed.", failures),
  ];
}
