import { readFileSync } from "node:fs";
import type { Logger } from "pino";
import type { Anchors } from "../../engine/audit/anchor.ts";
import { CHECKPOINT_DEFAULTS, type Checkpointer, checkpointer } from "../../engine/audit/checkpointer.ts";
import { type RootReceiver, startRootSender } from "../../engine/audit/root-sender.ts";
import { type AuditSigner, type AuditVerifier, auditSigner } from "../../engine/audit/signer.ts";
import type { Host } from "../../engine/host.ts";
import { problemOf, systemResolve } from "../../engine/outbound/guard.ts";
import { atMostEvery } from "../../engine/shared/once-only.ts";
import { counter, gauge, type Sample } from "../../http/routes/metrics.ts";
import { unusableInput } from "../../protocol/errors.ts";
import type { Store } from "../../store/port/store.ts";
import type { Config } from "../settings/settings.ts";
import { reportTo } from "./log.ts";
import type { Shutdown } from "./shutdown.ts";

export async function signerFor(store: Store, { auditKey }: Config): Promise<AuditSigner> {
  return auditSigner(store, auditKey === undefined ? {} : { privateKeyPem: readKey(auditKey) });
}

function readKey(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw unusableInput(`--audit-key cannot be read: ${(error as Error).message}`);
  }
}

export function auditSamples({ checkpointer: signing }: Pick<Host, "checkpointer">): Sample[] {
  const help = "Tenants whose audit chain is not signed, because it contradicts itself or its anchor.";
  return signing === undefined ? [] : [gauge("assay_audit_refused_tenants", help, signing.refused().size)];
}

/** Signs checkpoints when they are due and, at the shutdown, over all entries that are not covered yet. */
export function signCheckpoints(
  host: Host,
  signer: AuditSigner,
  config: Config,
  log: Logger,
  shutdown: Shutdown,
  anchors?: Anchors,
): Checkpointer {
  const settings = {
    ...CHECKPOINT_DEFAULTS,
    intervalEntries: config.auditCheckpointEntries,
    intervalSeconds: config.auditCheckpointSeconds,
  };
  const report = reportTo(log, "audit checkpoint");
  const made = checkpointer(host, signer, settings, report, anchors);
  made.start();
  shutdown.add("audit checkpoints", async () => {
    await made.stop();
    for (const { tenant } of await host.store.auditBacklog()) await made.checkpointTenant(tenant).catch(report);
  });
  return made;
}

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
  if (!URL.canParse(url))
    throw unusableInput("--audit-root-url must be an address such as https://roots.example/assay");
  const problem = problemOf({ allowPrivate, resolve: systemResolve }, new URL(url));
  if (problem !== undefined) throw unusableInput(`--audit-root-url cannot be used: ${problem}`);
  if (secret.length < SECRET_MIN) {
    throw unusableInput(`--audit-root-url needs ASSAY_AUDIT_ROOT_SECRET with at least ${SECRET_MIN} characters`);
  }
  return { url, secret };
}

/**
 * Sends signed roots until the shutdown. Returns its metrics. Called before `signCheckpoints`: parts are closed in the opposite order, so
 * roots that are signed at the shutdown are sent too.
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
    onError: reportTo(log, "audit roots"),
  });
  shutdown.add("audit roots", (remainingMs) => sender.stop(remainingMs));
  return () => {
    const { sent, failed } = sender.stats();
    return [
      counter("assay_audit_roots_sent_total", "Signed audit roots that the receiver took.", sent),
      counter("assay_audit_roots_failed_total", "Attempts to send a signed audit root that failed.", failed),
    ];
  };
}
