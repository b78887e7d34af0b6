import type { AuditCheckpoint, AuditEntry } from "../../protocol/audit.ts";
import type { Audit } from "../../store/store.ts";
import { asServed } from "./verify.ts";

export interface AuditPage {
  readonly entries: AuditEntry[];
  /** Those that end on this page. */
  readonly checkpoints: AuditCheckpoint[];
  /** Where the next page begins; absent at the end of the log. */
  readonly nextSeq?: number;
}

/** A page of a tenant's log for keeping a copy elsewhere. Over all pages every checkpoint comes once. */
export async function readAuditPage(
  store: Audit,
  tenant: string,
  { fromSeq, limit }: { readonly fromSeq: number; readonly limit: number },
): Promise<AuditPage> {
  const found = await store.readAudit(tenant, fromSeq, Number.MAX_SAFE_INTEGER, limit + 1);
  const entries = found.slice(0, limit);
  const next = found[limit];
  const last = entries.at(-1);
  const checkpoints = last === undefined ? [] : await store.readCheckpoints(tenant, fromSeq, last.atSequence);
  return {
    entries,
    checkpoints: checkpoints.map(asServed),
    ...(next === undefined ? {} : { nextSeq: next.atSequence }),
  };
}
