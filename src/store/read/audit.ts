import { type Kysely, sql } from "kysely";
import type { AuditEntry } from "../../protocol/audit/audit.ts";
import type { AuditBacklog, StoredCheckpoint } from "../port/store.ts";
import { type ChainHead, toAuditEntry } from "../rows/rows.ts";
import { auditCheckpoints } from "../schema/audit.ts";
import type { Tables } from "../schema/tables.ts";
import { lastFitting } from "./fitting.ts";

export async function readAudit(
  db: Kysely<Tables>,
  tenant: string,
  fromSeq: number,
  toSeq: number,
  limit: number,
): Promise<AuditEntry[]> {
  const within = db
    .selectFrom("audit_log")
    .where("tenant", "=", tenant)
    .where("seq", ">=", fromSeq)
    .where("seq", "<=", toSeq)
    .orderBy("seq")
    .limit(limit);
  const bytes = sql<number | null>`octet_length(details)`.as("bytes");
  const fitting = lastFitting(await within.select(["seq", bytes]).execute());
  if (fitting === undefined) return [];
  const rows = await within
    .select(["seq", "occurred_at", "actor", "action", "target", "details", "prev_hash"])
    .where("seq", "<=", fitting.seq)
    .execute();
  return rows.map(toAuditEntry);
}

export async function auditHead(db: Kysely<Tables>, tenant: string): Promise<ChainHead | undefined> {
  const row = await db
    .selectFrom("audit_heads")
    .select(["seq", "hash"])
    .where("tenant", "=", tenant)
    .executeTakeFirst();
  return row && { seq: row.seq, hash: row.hash };
}

/** Those that end within the range. */
export async function readCheckpoints(
  db: Kysely<Tables>,
  tenant: string,
  fromSeq: number,
  toSeq: number,
  limit?: number,
): Promise<StoredCheckpoint[]> {
  const query = db
    .selectFrom("audit_checkpoints")
    .select(["prev_seq", "at_seq", "checkpoint", "merkle_root", "signature", "created_at"])
    .where("tenant", "=", tenant)
    .where("at_seq", ">=", fromSeq)
    .where("at_seq", "<=", toSeq)
    .orderBy("at_seq");
  const rows = await (limit === undefined ? query : query.limit(limit)).execute();
  return rows.map(auditCheckpoints.toRecord);
}

/** One look-up in an index for each tenant. */
export async function tenantsWithCheckpointsAfter(db: Kysely<Tables>, cursor: string): Promise<string[]> {
  const { rows } = await sql<{ tenant: string }>`
    select head.tenant from audit_heads as head
    left join export_cursors as place on place.name = ${cursor} and place.tenant = head.tenant
    where coalesce(place.seq, 0) < (
      select last.at_seq from audit_checkpoints as last
      where last.tenant = head.tenant order by last.at_seq desc limit 1)
    order by head.tenant`.execute(db);
  return rows.map(({ tenant }) => tenant);
}

export async function auditBacklog(db: Kysely<Tables>): Promise<AuditBacklog[]> {
  const rows = await db
    .selectFrom("audit_heads as head")
    // Two look-ups per tenant in an index; a join with grouping would read every checkpoint ever made.
    .select((head) => [
      "head.tenant",
      "head.seq",
      ...(["at_seq", "created_at"] as const).map((column) =>
        head
          .selectFrom("audit_checkpoints as last")
          .select(column)
          .whereRef("last.tenant", "=", "head.tenant")
          .orderBy("last.at_seq", "desc")
          .limit(1)
          .as(column),
      ),
    ])
    .orderBy("head.tenant")
    .execute();
  return rows
    .map((row) => ({
      tenant: row.tenant,
      headSeq: row.seq,
      checkpointSeq: row.at_seq ?? 0,
      checkpointAtMs: row.created_at ?? 0,
    }))
    .filter((backlog) => backlog.headSeq !== backlog.checkpointSeq);
}

/** The primary key (tenant, prev_seq) decides who was first. */
export async function putCheckpoint(
  db: Kysely<Tables>,
  tenant: string,
  checkpoint: StoredCheckpoint,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto("audit_checkpoints")
    .values(auditCheckpoints.toRow({ tenant, ...checkpoint }))
    .onConflict((conflict) => conflict.columns(["tenant", "prev_seq"]).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}
