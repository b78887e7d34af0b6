import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { searchWords } from "../port/search-words.ts";
import { dialectOf } from "../schema/dialect-of.ts";
import type { AnnotationsTable } from "../schema/judgments.ts";
import type { Tables } from "../schema/tables.ts";

/** Where to look, under the name `annotations`, and what must hold there. */
export interface Search {
  readonly from: RawBuilder<AnnotationsTable>;
  readonly where: RawBuilder<SqlBool>;
}

const EVERYWHERE = sql<AnnotationsTable>`annotations`;

/**
 * Annotations of whose text some word begins with each of these. The query is reduced to letters and digits first,
 * so nothing in it has a meaning to the database. A query without a word finds nothing.
 */
export async function searchFor(db: Kysely<Tables>, asked: readonly string[] | undefined, few = FEW): Promise<Search> {
  if (asked === undefined) return { from: EVERYWHERE, where: sql`true` };
  const words = searchWords(...asked);
  if (words.length === 0) return { from: EVERYWHERE, where: sql`false` };
  if (dialectOf(db) === "postgres") {
    const beginnings = words.map((word) => `'${word}':*`).join(" & ");
    const where = sql<SqlBool>`(tenant, annotation_id) in (select tenant, annotation_id from annotation_texts
      where lexemes @@ ${beginnings}::tsquery)`;
    return { from: EVERYWHERE, where };
  }
  return inSqlite(db, words, few);
}

/** So many are looked up one by one and sorted. */
const FEW = 10_000;

/**
 * SQLite does not know how common a word is, so it is asked first. Where there are few such texts, they are looked up; where
 * there are many, a walk along an index in the order of the list meets the next one soon.
 */
async function inSqlite(db: Kysely<Tables>, words: readonly string[], few: number): Promise<Search> {
  const beginnings = words.map((word) => `"${word}"*`).join(" AND ");
  const matches = sql`select rowid from annotation_words where annotation_words match ${beginnings}`;
  const { rows } = await sql<{ n: number }>`select count(*) as n from (${matches} limit ${few + 1})`.execute(db);
  if ((rows[0]?.n ?? 0) <= few) {
    // With a limit, so that it is not made one with the rest of the statement and done in another order.
    const from = sql<AnnotationsTable>`(select found.* from annotation_texts as text cross join annotations as found
      where text.text_number in (${matches}) and found.tenant = text.tenant
      and found.annotation_id = text.annotation_id limit -1)`;
    return { from, where: sql`true` };
  }
  const each = words.map((word) => sql`instr(' ' || text.words, ${` ${word}`}) > 0`);
  const where = sql<SqlBool>`exists (select 1 from annotation_texts as text where text.tenant = annotations.tenant
    and text.annotation_id = annotations.annotation_id and ${sql.join(each, sql` and `)})`;
  return { from: EVERYWHERE, where };
}
