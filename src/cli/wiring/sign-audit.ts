import { readFileSync } from "node:fs";
import type { Logger } from "pino";
import { CHECKPOINT_DEFAULTS, type Checkpointer, checkpointer } from "../../engine/audit/checkpointer.ts";
import { type AuditSigner, auditSigner } from "../../engine/audit/signer.ts";
import type { Host } from "../../engine/host.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Store } from "../../store/store.ts";
import type { Config } from "../settings.ts";
import type { Shutdown } from "./shutdown.ts";

export async function signerFor(store: Store, { auditKey }: Config): Promise<AuditSigner> {
  return auditSigner(store, auditKey === undefined ? {} : { privateKeyPem: readKey(auditKey) });
}

function readKey(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new AppError("unusable_input", { problem: `--audit-key cannot be read: ${(error as Error).message}` });
  }
}

/** Signs checkpoints as they fall due and, at the end, over everything that is not covered yet. */
export function signCheckpoints(
  host: Host,
  signer: AuditSigner,
  config: Config,
  log: Logger,
  shutdown: Shutdown,
): Checkpointer {
  const settings = {
    ...CHECKPOINT_DEFAULTS,
    intervalEntries: config.auditCheckpointEntries,
    intervalSeconds: config.auditCheckpointSeconds,
  };
  const made = checkpointer(host, signer, settings, (error) => log.error({ err: error }, "audit checkpoint"));
  made.start();
  shutdown.add("audit checkpoints", async () => {
    await made.stop();
    for (const { tenant } of await host.store.auditBacklog()) await made.checkpointTenant(tenant);
  });
  return made;
}
