import { entryHash } from "../../formats/audit/audit-entry-hash.ts";
import type { AuditDraft, AuditEntry } from "../../protocol/audit/audit.ts";

export { entryHash };

export interface ChainHead {
  readonly seq: number;
  readonly hash: string;
}

/** Puts drafts at the end of a chain. Pure but for the hash; callers hold the head's lock. */
export function extendChain(
  head: ChainHead | undefined,
  drafts: readonly AuditDraft[],
): { entries: AuditEntry[]; head: ChainHead } {
  let seq = head?.seq ?? 0;
  let prevHash: string | null = head?.hash ?? null;
  const entries: AuditEntry[] = [];
  for (const { occurredAt, actor, action, target, details } of drafts) {
    seq += 1;
    const entry: AuditEntry = { atSequence: seq, occurredAt, actor, action, target, details, prevHash };
    prevHash = entryHash(entry);
    entries.push(entry);
  }
  if (prevHash === null) throw new Error("extendChain needs a head or at least one draft");
  return { entries, head: { seq, hash: prevHash } };
}
