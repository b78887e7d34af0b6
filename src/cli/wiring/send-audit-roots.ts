import type { Logger } from "pino";
import { type RootReceiver, type RootSender, startRootSender } from "../../engine/audit/root-sender.ts";
import type { AuditVerifier } from "../../engine/audit/signer.ts";
import type { Host } from "../../engine/host.ts";
import { problemOf, systemResolve } from "../../engine/outbound/guard.ts";
import { atMostEvery } from "../../engine/shared/at-most-every.ts";
import type { Sample } from "../../http/routes/metrics.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Config } from "../settings/settings.ts";
import type { Shutdown } from "./shutdown.ts";

const BATCH = 100;
const SWEEP_MS = 2000;
const SECRET_MIN = 16;
/** One line a minute reports that the receiver is away. */
const REPORT_EVERY_MS = 60_000;

type Settings = Pick<Config, "auditRootUrl" | "auditRootSecret" | "allowPrivateWebhooks">;

/** Undefined where no receiver is configured. Throws `unusable_input` for one that could never be called. */
export function rootReceiverOf(config: Settings): RootReceiver | undefined {
  const { auditRootUrl: url, auditRootSecret: secret = "", allowPrivateWebhooks: allowPrivate } = config;
  if (url === undefined) return undefined;
  if (!URL.canParse(url)) throw unusable("--audit-root-url must be an address such as https://roots.example/assay");
  const problem = problemOf({ allowPrivate, resolve: systemResolve }, new URL(url));
  if (problem !== undefined) throw unusable(`--audit-root-url cannot be used: ${problem}`);
  if (secret.length < SECRET_MIN) {
    throw unusable(`--audit-root-url needs ASSAY_AUDIT_ROOT_SECRET with at least ${SECRET_MIN} characters`);
  }
  return { url, secret };
}

function unusable(problem: string): AppError {
  return new AppError("unusable_input", { problem });
}

/**
 * Sends signed roots from now until the shutdown, and gives the metrics of it. Call it before `signCheckpoints`: what is opened first is closed
 * last, so the roots that are signed at the shutdown are sent too.
 */
export function sendAuditRoots(
  host: Host,
  verifier: AuditVerifier,
  receiver: RootReceiver | undefined,
  config: Config,
  log: Logger,
  shutdown: Shutdown,
): () => readonly Sample[] {
  if (receiver === undefined) return () => [];
  const mayReport = atMostEvery(REPORT_EVERY_MS);
  const sender = startRootSender(host, verifier, {
    ...receiver,
    batchMax: BATCH,
    sweepMs: SWEEP_MS,
    retryMs: config.webhookRetryMs,
    retryMaxMs: config.webhookRetryMaxMs,
    chance: Math.random,
    onRefusal: (reason) => {
      if (mayReport(reason, Date.now())) log.warn({ reason }, "audit roots");
    },
    onError: (error) => log.error({ err: error }, "audit roots"),
  });
  shutdown.add("audit roots", (remainingMs) => sender.stop(remainingMs));
  return () => samplesOf(sender);
}

function samplesOf(sender: RootSender): Sample[] {
  const { sent, failed } = sender.stats();
  const counter = (name: string, help: string, value: number): Sample => ({ name, help, type: "counter", value });
  return [
    counter("assay_audit_roots_sent_total", "Signed audit roots that the receiver took.", sent),
    counter("assay_audit_roots_failed_total", "Attempts to send a signed audit root that failed.", failed),
  ];
}
