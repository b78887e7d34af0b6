import { type ExpressionBuilder, type Kysely, sql } from "kysely";
import type { IdempotencyClaim, IdempotencyKey, IdempotencyRecord } from "../port/store.ts";
import { toIdempotencyRecord } from "../rows/rows.ts";
import type { IdempotencyTable } from "../schema/host.ts";
import type { Tables } from "../schema/tables.ts";

export async function readIdempotency(
  db: Kysely<Tables>,
  key: IdempotencyKey,
  nowMs: number,
): Promise<IdempotencyRecord | undefined> {
  const row = await db
    .selectFrom("idempotency")
    .select(["digest", "state", "status", "headers", "body", "lease_until"])
    .where(isKey(key))
    .where("expires_at", ">", nowMs)
    .executeTakeFirst();
  return row && toIdempotencyRecord(row);
}

/**
 * One statement decides, so two claimers cannot both win. `write` claims, `read` looks up who stands in the way; when
 * that one vanished in between, the claim is tried again.
 */
export async function claimIdempotency(
  write: Kysely<Tables>,
  read: Kysely<Tables>,
  claim: IdempotencyClaim,
): Promise<IdempotencyRecord | undefined> {
  for (;;) {
    if (await tryClaim(write, claim)) return undefined;
    const standing = await readIdempotency(read, claim, claim.nowMs);
    if (standing !== undefined) return standing;
  }
}

async function tryClaim(db: Kysely<Tables>, claim: IdempotencyClaim): Promise<boolean> {
  const pending = {
    digest: claim.digest,
    state: "pending" as const,
    status: null,
    headers: null,
    body: null,
    lease_owner: claim.leaseOwner,
    lease_until: claim.leaseUntilMs,
    expires_at: claim.expiresAtMs,
  };
  const claimed = await db
    .insertInto("idempotency")
    .values({ tenant: claim.tenant, operation: claim.operation, idem_key: claim.key, ...pending })
    .onConflict((conflict) =>
      conflict
        .columns(["tenant", "operation", "idem_key"])
        .doUpdateSet(pending)
        .where((standing) => countsNoMore(standing, claim.nowMs)),
    )
    .returning(sql<number>`1`.as("claimed"))
    .execute();
  return claimed.length > 0;
}

/** The rule of `Side.claimIdempotency`; the writers of units hold the same one, for outcomes. */
function countsNoMore(standing: ExpressionBuilder<Tables, "idempotency">, nowMs: number) {
  return standing.or([
    standing("idempotency.expires_at", "<=", nowMs),
    standing("idempotency.state", "=", "retryable-failure"),
    standing.and([standing("idempotency.state", "=", "pending"), standing("idempotency.lease_until", "<=", nowMs)]),
  ]);
}

export async function releaseIdempotency(db: Kysely<Tables>, key: IdempotencyKey, leaseOwner: string): Promise<void> {
  await db
    .deleteFrom("idempotency")
    .where(isKey(key))
    .where("state", "=", "pending")
    .where("lease_owner", "=", leaseOwner)
    .execute();
}

function isKey({ tenant, operation, key }: IdempotencyKey) {
  return (row: ExpressionBuilder<{ idempotency: IdempotencyTable }, "idempotency">) =>
    row.and([row("tenant", "=", tenant), row("operation", "=", operation), row("idem_key", "=", key)]);
}
