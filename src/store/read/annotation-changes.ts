import { type Kysely, sql } from "kysely";
import type { AnnotationChange, AnnotationChangeKind, ChangePlace } from "../port/judgments.ts";
import type { RowPage } from "../port/large-rows.ts";
import { ANNOTATION_TEXT_BYTES, toAnnotation } from "../rows/annotation-rows.ts";
import type { Tables } from "../schema/tables.ts";
import { auditHead } from "./audit.ts";
import { fittingPage } from "./fitting.ts";

const START: ChangePlace = { seq: 0, n: 0 };

export async function annotationChanges(
  db: Kysely<Tables>,
  tenant: string,
  after: ChangePlace,
  limit: number,
): Promise<RowPage<AnnotationChange>> {
  const following = db
    .selectFrom("annotation_changes as change")
    .innerJoin("annotations", (join) =>
      join
        .onRef("annotations.tenant", "=", "change.tenant")
        .onRef("annotations.annotation_id", "=", "change.annotation_id"),
    )
    .where("change.tenant", "=", tenant)
    .where(sql<boolean>`(change.seq, change.n) > (${after.seq}, ${after.n})`)
    .orderBy("change.seq")
    .orderBy("change.n");
  const changes = following.selectAll("annotations").select(["change.seq", "change.n", "change.change", WITHHELD]);
  return fittingPage(limit, {
    sizes: () => following.select(TEXT_BYTES.as("bytes")).limit(limit).execute(),
    rows: async (most) =>
      (await changes.limit(most).execute()).map(({ seq, n, change, withheld, ...row }) => ({
        place: { seq, n },
        change: change as AnnotationChangeKind,
        annotation: toAnnotation(row),
        withheld: Boolean(withheld),
      })),
  });
}

const TEXT_BYTES = sql.raw<number>(ANNOTATION_TEXT_BYTES);

const WITHHELD = sql<number | boolean>`annotations.queue_item_id is not null and (exists (
    select 1 from queue_items as item join queues as queue on queue.queue_id = item.queue_id
    where item.item_id = annotations.queue_item_id and item.state = 'open' and queue.blind = 1)
  or (change.change <> 'shown' and exists (
    select 1 from annotation_changes as later
    where later.tenant = change.tenant and later.annotation_id = change.annotation_id and later.change = 'shown'
      and (later.seq, later.n) > (change.seq, change.n))))`.as("withheld");

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

/** More than clocks of hosts differ, or than one that was set back may be behind. */
const CLOCKS_MS = 86_400_000;
/** Numbers of changes in one commit are smaller. */
const LAST_N = 2 ** 31 - 1;

/**
 * The last commit that was made a day and more before the time. It is found by the times of audit entries, which the host writes: the times
 * of judgments may be chosen by their authors, as in sidecars and imports, and a thousand rows of last week that are pushed today would
 * move the place past all that was recorded since. Entries never change and their order is that of commits, so what is
 * committed meanwhile comes after the place.
 */
export async function changePlaceAt(db: Kysely<Tables>, tenant: string, recordedAtMs: number): Promise<ChangePlace> {
  const from = new Date(recordedAtMs - CLOCKS_MS).toISOString();
  const head = await auditHead(db, tenant);
  let [earlier, later] = [0, (head?.seq ?? 0) + 1];
  while (later - earlier > 1) {
    const middle = Math.floor((earlier + later) / 2);
    if ((await occurredAt(db, tenant, middle)) < from) earlier = middle;
    else later = middle;
  }
  return earlier === 0 ? START : { seq: earlier, n: LAST_N };
}

async function occurredAt(db: Kysely<Tables>, tenant: string, seq: number): Promise<string> {
  const { occurred_at } = await db
    .selectFrom("audit_log")
    .select("occurred_at")
    .where("tenant", "=", tenant)
    .where("seq", "=", seq)
    .executeTakeFirstOrThrow();
  return occurred_at;
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
