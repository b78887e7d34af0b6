import { type ExpressionBuilder, type Kysely, sql } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Artifact, EffectRecord, IdempotencyClaim, IdempotencyKey, IdempotencyRecord } from "../port/store.ts";
import { CALLBACK } from "../rows/interrupt-rows.ts";
import { toArtifact, toIdempotencyRecord } from "../rows/rows.ts";
import { dialectOf } from "../schema/dialect.ts";
import type { IdempotencyTable } from "../schema/host.ts";
import { effects } from "../schema/runs.ts";
import type { Tables } from "../schema/tables.ts";

async function readIdempotency(
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
    const current = await readIdempotency(read, claim, claim.nowMs);
    if (current !== undefined) return current;
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
        .where((current) => countsNoMore(current, claim.nowMs)),
    )
    .returning(sql<number>`1`.as("claimed"))
    .execute();
  return claimed.length > 0;
}

/** The rule of `Side.claimIdempotency`; the writers of units hold the same one, for outcomes. */
function countsNoMore(current: ExpressionBuilder<Tables, "idempotency">, nowMs: number) {
  return current.or([
    current("idempotency.expires_at", "<=", nowMs),
    current("idempotency.state", "=", "retryable-failure"),
    current.and([current("idempotency.state", "=", "pending"), current("idempotency.lease_until", "<=", nowMs)]),
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

export async function readEffect(db: Kysely<Tables>, effectId: string): Promise<EffectRecord | undefined> {
  const row = await db.selectFrom("effects").selectAll().where("effect_id", "=", effectId).executeTakeFirst();
  return row && effects.toRecord(row);
}

/** Artifacts are visible to the callers who can see their run. */
export async function readArtifact(
  db: Kysely<Tables>,
  { tenant, workspace }: Visibility,
  runId: string,
  artifactId: string,
): Promise<Artifact | undefined> {
  const row = await db
    .selectFrom("artifacts")
    .innerJoin("runs", "runs.run_id", "artifacts.run_id")
    .select(["artifact_id", "artifact_type", "content_type", "body"])
    .where("artifacts.run_id", "=", runId)
    .where("artifacts.artifact_id", "=", artifactId)
    .where("artifacts.tenant", "=", tenant)
    .where("runs.tenant", "=", tenant)
    .$if(workspace !== undefined, (found) => found.where("runs.workspace", "=", workspace ?? ""))
    .executeTakeFirst();
  return row && toArtifact(row);
}

export async function hostSecret(
  write: Kysely<Tables>,
  read: Kysely<Tables>,
  name: string,
  make: () => string,
): Promise<string> {
  const find = () => read.selectFrom("host_secrets").select("value").where("name", "=", name).executeTakeFirst();
  const known = await find();
  if (known !== undefined) return known.value;
  await write
    .insertInto("host_secrets")
    .values({ name, value: make() })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  const first = await find();
  if (first === undefined) throw new Error(`host secret ${name} vanished after it was stored`);
  return first.value;
}

/** Rows per statement: commits of requests get their turn in between. What was answered may be some hundred thousand bytes, and is overwritten. */
const PURGE_ROWS = 100;

const DAY_MS = 86_400_000;

/** Long enough to see on Monday what was sent during a holiday week; the event itself stays in its run's log. */
const DELIVERED_KEPT_MS = 7 * DAY_MS;

/** A receiver that was away has this long to be mended and to ask for what it missed. */
const DEAD_KEPT_MS = 30 * DAY_MS;

export async function purge(db: Kysely<Tables>, nowMs: number): Promise<number> {
  // Rows that a commit is just replacing are passed over: waiting for them would delete what was put in their place.
  const free = dialectOf(db) === "postgres" ? sql`for update skip locked` : sql``;
  const some = sql`limit ${PURGE_ROWS} ${free}`;
  const expired = sql`expires_at <= ${nowMs} ${some}`;
  const deletes = [
    sql`delete from idempotency where (tenant, operation, idem_key) in
      (select tenant, operation, idem_key from idempotency where ${expired})`,
    sql`delete from effects where effect_id in (select effect_id from effects where ${expired})`,
    sql`delete from external_events where (tenant, workspace, correlation_id, event_id) in
      (select tenant, workspace, correlation_id, event_id from external_events where ${expired})`,
    sql`delete from documents where (tenant, kind, doc_key) in
      (select tenant, kind, doc_key from documents where ${expired})`,
    ...[
      sql`state = 'delivered' and finished_at <= ${nowMs - DELIVERED_KEPT_MS}`,
      sql`state = 'dead' and finished_at <= ${nowMs - DEAD_KEPT_MS}`,
      // Not deliverable: the webhook is disabled, or was deleted while they were being written. Others are only
      // late, by however long no host was there to send them.
      sql`state = 'pending' and next_at <= ${nowMs - DEAD_KEPT_MS} and webhook_id <> ${CALLBACK} and not exists (
        select 1 from webhooks where webhooks.webhook_id = deliveries.webhook_id and disabled_at is null)`,
    ].map(
      (over) =>
        sql`delete from deliveries where delivery_id in (select delivery_id from deliveries where ${over} ${some})`,
    ),
  ];
  let purged = 0;
  for (const statement of deletes) {
    for (let more = true; more; ) {
      const gone = Number((await statement.execute(db)).numAffectedRows ?? 0);
      purged += gone;
      more = gone === PURGE_ROWS;
    }
  }
  return purged;
}
