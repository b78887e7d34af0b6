import { type Kysely, sql } from "kysely";
import type { AnnotationChange, AnnotationChangeKind, ChangePlace } from "../port/judgments.ts";
import { toAnnotation } from "../rows/annotation-rows.ts";
import type { Tables } from "../schema/tables.ts";

const START: ChangePlace = { seq: 0, n: 0 };

export async function annotationChanges(
  db: Kysely<Tables>,
  tenant: string,
  after: ChangePlace,
  limit: number,
): Promise<AnnotationChange[]> {
  const rows = await db
    .selectFrom("annotation_changes as change")
    .innerJoin("annotations", (join) =>
      join
        .onRef("annotations.tenant", "=", "change.tenant")
        .onRef("annotations.annotation_id", "=", "change.annotation_id"),
    )
    .selectAll("annotations")
    .select(["change.seq", "change.n", "change.change"])
    .where("change.tenant", "=", tenant)
    .where(sql<boolean>`(change.seq, change.n) > (${after.seq}, ${after.n})`)
    .orderBy("change.seq")
    .orderBy("change.n")
    .limit(limit)
    .execute();
  return rows.map(({ seq, n, change, ...row }) => ({
    place: { seq, n },
    change: change as AnnotationChangeKind,
    annotation: toAnnotation(row),
  }));
}

export async function annotationHead(db: Kysely<Tables>, tenant: string): Promise<ChangePlace> {
  return (await places(db, tenant).orderBy("seq", "desc").orderBy("n", "desc").executeTakeFirst()) ?? START;
}

export async function changePlace(
  db: Kysely<Tables>,
  tenant: string,
  annotationId: string,
  change: AnnotationChangeKind,
): Promise<ChangePlace | undefined> {
  return places(db, tenant).where("annotation_id", "=", annotationId).where("change", "=", change).executeTakeFirst();
}

/** Clocks of several processes differ a little: what was recorded first has the earliest time of some, not of all. */
const RECORDED_TOGETHER = 1000;

/**
 * Times are those of the recording, except of what came from elsewhere. So it is one of our own that is looked for, and then
 * the last of our own before it: what was imported in between may have come before the time or after.
 *
 * One statement, and so one snapshot. With two, a judgment that is committed between them is missing in the first and is
 * the last of the second: the reader would start after it and never see it.
 */
export async function changePlaceAt(db: Kysely<Tables>, tenant: string, createdAtMs: number): Promise<ChangePlace> {
  const { rows } = await sql<ChangePlace>`
    with since as (
      select annotation_id from annotations
      where tenant = ${tenant} and created_at >= ${createdAtMs} and imported_by is null
      order by created_at, annotation_id limit ${RECORDED_TOGETHER}
    ), first as materialized (
      select change.seq, change.n from since cross join annotation_changes as change
      where change.tenant = ${tenant} and change.annotation_id = since.annotation_id and change.change = 'recorded'
      order by change.seq, change.n limit 1
    )
    select change.seq, change.n from annotation_changes as change
    where change.tenant = ${tenant} and change.change = 'recorded'
      and change.seq <= coalesce((select seq from first), ${Number.MAX_SAFE_INTEGER})
      and (change.seq < coalesce((select seq from first), ${Number.MAX_SAFE_INTEGER}) or change.n < (select n from first))
      and exists (
        select 1 from annotations as own
        where own.tenant = change.tenant and own.annotation_id = change.annotation_id and own.imported_by is null)
    order by change.seq desc, change.n desc limit 1`.execute(db);
  return rows[0] ?? START;
}

function places(db: Kysely<Tables>, tenant: string) {
  return db.selectFrom("annotation_changes").select(["seq", "n"]).where("tenant", "=", tenant).limit(1);
}

// --- exporters of changes -------------------------------------------------------------------------------------

export async function readCursor(db: Kysely<Tables>, name: string, tenant: string): Promise<ChangePlace | undefined> {
  return db
    .selectFrom("export_cursors")
    .select(["seq", "n"])
    .where("name", "=", name)
    .where("tenant", "=", tenant)
    .executeTakeFirst();
}

export async function putCursor(
  db: Kysely<Tables>,
  name: string,
  tenant: string,
  { seq, n }: ChangePlace,
): Promise<void> {
  await db
    .insertInto("export_cursors")
    .values({ name, tenant, seq, n })
    .onConflict((taken) => taken.columns(["name", "tenant"]).doUpdateSet({ seq, n }))
    .execute();
}

/** Every tenant that ever changed an annotation has audit entries, so there is a head to start from for each. */
export async function tenantsBehind(db: Kysely<Tables>, name: string): Promise<string[]> {
  const { rows } = await sql<{ tenant: string }>`
    select head.tenant from audit_heads as head
    left join export_cursors as place on place.name = ${name} and place.tenant = head.tenant
    where exists (
      select 1 from annotation_changes as change where change.tenant = head.tenant
      and (change.seq, change.n) > (coalesce(place.seq, 0), coalesce(place.n, 0)))
    order by head.tenant`.execute(db);
  return rows.map(({ tenant }) => tenant);
}
