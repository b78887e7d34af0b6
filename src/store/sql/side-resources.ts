import { type Kysely, sql } from "kysely";
import type { Visibility } from "../../protocol/identity.ts";
import type { Artifact, EffectRecord } from "../store.ts";
import { dialectOf } from "./dialect-of.ts";
import { toArtifact, toEffectRecord } from "./rows.ts";
import type { Tables } from "./tables.ts";

export async function readEffect(db: Kysely<Tables>, effectId: string): Promise<EffectRecord | undefined> {
  const row = await db.selectFrom("effects").selectAll().where("effect_id", "=", effectId).executeTakeFirst();
  return row && toEffectRecord(row);
}

/** An artifact is seen by whoever sees its run. */
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

/** Rows per statement: commits of requests get their turn in between. */
const PURGE_ROWS = 1000;

export async function purge(db: Kysely<Tables>, nowMs: number): Promise<number> {
  // Rows that a commit is just replacing are passed over: waiting for them would delete what was put in their place.
  const free = dialectOf(db) === "postgres" ? sql`for update skip locked` : sql``;
  const expired = sql`expires_at <= ${nowMs} limit ${PURGE_ROWS} ${free}`;
  const deletes = [
    sql`delete from idempotency where (tenant, operation, idem_key) in
      (select tenant, operation, idem_key from idempotency where ${expired})`,
    sql`delete from effects where effect_id in (select effect_id from effects where ${expired})`,
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
