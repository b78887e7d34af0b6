import type { AuditEntry } from "../../protocol/audit/audit.ts";
import { bigint, json, table, text, time } from "./table.ts";

/** Updates and deletes are refused by triggers. */
export const auditLog = table(
  "audit_log",
  {
    tenant: text(),
    seq: bigint().as("atSequence"),
    occurred_at: text(),
    actor: text(),
    action: text(),
    target: text(),
    details: json<AuditEntry["details"]>(),
    prev_hash: text().orNull,
  },
  { key: ["tenant", "seq"] },
);

/** One row per tenant: where its chain ends. Locked first by every commit that audits. */
export const auditHeads = table("audit_heads", { tenant: text(), seq: bigint(), hash: text() }, { key: ["tenant"] });

/** The key keeps two processes from continuing from one checkpoint. Append-only too. */
export const auditCheckpoints = table(
  "audit_checkpoints",
  {
    tenant: text(),
    prev_seq: bigint().as("prevSequence"),
    at_seq: bigint().as("atSequence"),
    checkpoint: text(),
    merkle_root: text(),
    signature: text(),
    created_at: time().as("atMs"),
  },
  { key: ["tenant", "prev_seq"] },
);
