import type { Kysely } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Artifact, EffectRecord } from "../port/store.ts";
import { toArtifact } from "../rows/rows.ts";
import { effects } from "../schema/runs.ts";
import type { Tables } from "../schema/tables.ts";

export async function readEffect(db: Kysely<Tables>, effectId: string): Promise<EffectRecord | undefined> {
  const row = await db.selectFrom("effects").selectAll().where("effect_id", "=", effectId).executeTakeFirst();
  return row && effects.toRecord(row);
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
