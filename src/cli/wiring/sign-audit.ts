import { readFileSync } from "node:fs";
import type { Logger } from "pino";
import type { Anchors } from "../../engine/audit/anchor.ts";
import { CHECKPOINT_DEFAULTS, type Checkpointer, checkpointer } from "../../engine/audit/checkpointer.ts";
import { type AuditSigner, auditSigner } from "../../engine/audit/signer.ts";
import type { Host } from "../../engine/host.ts";
import type { Sample } from "../../http/routes/metrics.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Store } from "../../store/port/store.ts";
import type { Config } from "../settings/settings.ts";
import { AnchorFolder } from "./anchor-folder.ts";
import type { Shutdown } from "./shutdown.ts";

export async function signerFor(store: Store, { auditKey }: Config): Promise<AuditSigner> {
  return auditSigner(store, auditKey === undefined ? {} : { privateKeyPem: readKey(auditKey) });
}

/** Undefined where the key is in the database and no folder is named: an anchor in the same place as the key would prove nothing. */
export function anchorsFor({
  auditKey,
  auditAnchor,
}: Pick<Config, "auditKey" | "auditAnchor">): AnchorFolder | undefined {
  const folder = auditAnchor ?? (auditKey === undefined ? undefined : `${auditKey}.anchors`);
  return folder === undefined ? undefined : new AnchorFolder(folder);
}

function readKey(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new AppError("unusable_input", { problem: `--audit-key cannot be read: ${(error as Error).message}` });
  }
}

export function auditSamples({ checkpointer: made }: Pick<Host, "checkpointer">): Sample[] {
  const help = "Tenants whose audit chain is not signed, because it contradicts itself or its anchor.";
  return made === undefined
    ? []
    : [{ name: "assay_audit_refused_tenants", help, type: "gauge", value: made.refused().size }];
}

/** Signs checkpoints as they fall due and, at the end, over everything that is not covered yet. */
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
  const report = (error: unknown) => log.error({ err: error }, "audit checkpoint");
  const made = checkpointer(host, signer, settings, report, anchors);
  made.start();
  shutdown.add("audit checkpoints", async () => {
    await made.stop();
    for (const { tenant } of await host.store.auditBacklog()) await made.checkpointTenant(tenant).catch(report);
  });
  return made;
}
