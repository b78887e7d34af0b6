import { type Kysely, sql } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { RowPage } from "../port/large-rows.ts";
import {
  HEADER_CHARACTERS_MAX,
  type StoredSidecar,
  type StoredTape,
  TAPE_BODY,
  type TapeOutline,
  type TapeQuery,
} from "../port/tapes.ts";
import type { Tables } from "../schema/tables.ts";
import { tapeSidecars, tapes } from "../schema/tapes.ts";
import { visibleTo } from "./conditions.ts";
import { fittingPage } from "./fitting.ts";

export async function readTape(
  db: Kysely<Tables>,
  visible: Visibility,
  runId: string,
): Promise<StoredTape | undefined> {
  const row = await visibleTapes(db, visible).selectAll().where("run_id", "=", runId).executeTakeFirst();
  return row && tapes.toRecord(row);
}

const HEADER_START = sql<string>`substr(header, 1, ${sql.lit(HEADER_CHARACTERS_MAX)})`;

export async function listTapes(
  db: Kysely<Tables>,
  visible: Visibility,
  query: TapeQuery,
): Promise<RowPage<TapeOutline>> {
  const { digest, before, limit } = query;
  const found = visibleTapes(db, visible)
    .$if(digest !== undefined, (tapes) => tapes.where("digest", "=", digest ?? ""))
    .$if(before !== undefined, (tapes) => tapes.where("run_id", "<", before ?? ""))
    .orderBy("run_id", "desc");
  const outlines = found
    .select(["run_id", "tenant", "workspace", "digest", "name", "records", "imported_by", "imported_at"])
    .select(HEADER_START.as("header"));
  return fittingPage(limit, {
    sizes: () => found.select(sql<number>`octet_length(${HEADER_START})`.as("bytes")).limit(limit).execute(),
    rows: async (most) =>
      (await outlines.limit(most).execute()).map((row) => {
        const { header: headerStart, bodies: _, ...outline } = tapes.toRecord({ ...row, bodies: "[]" });
        return { ...outline, headerStart };
      }),
  });
}

function visibleTapes(db: Kysely<Tables>, visible: Visibility) {
  return db.selectFrom("tapes").where(visibleTo(visible));
}

/** Tapes are visible to the callers who can see their run. */
export async function readSidecar(
  db: Kysely<Tables>,
  { tenant, workspace }: Visibility,
  runId: string,
): Promise<StoredSidecar | undefined> {
  const row = await db
    .selectFrom("tape_sidecars as sidecar")
    .innerJoin("runs", "runs.run_id", "sidecar.run_id")
    .select(["sidecar.run_id", "sidecar.revision", "sidecar.pushed_by", "sidecar.pushed_at", "sidecar.body"])
    .where("sidecar.run_id", "=", runId)
    .where("sidecar.tenant", "=", tenant)
    .$if(workspace !== undefined, (found) => found.where("runs.workspace", "=", workspace ?? ""))
    .executeTakeFirst();
  return row && tapeSidecars.toRecord(row);
}

export async function bodiesHere(
  db: Kysely<Tables>,
  { tenant, workspace }: Visibility,
  runId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom("artifacts")
    .innerJoin("runs", "runs.run_id", "artifacts.run_id")
    .select("artifact_id")
    .where("artifacts.run_id", "=", runId)
    .where("artifacts.tenant", "=", tenant)
    .where("artifact_type", "=", TAPE_BODY)
    .$if(workspace !== undefined, (found) => found.where("runs.workspace", "=", workspace ?? ""))
    .orderBy("artifact_id")
    .execute();
  return rows.map(({ artifact_id }) => artifact_id);
}
