import { type Kysely, type RawBuilder, type SqlBool, sql } from "kysely";
import { searchWords } from "../search-words.ts";
import { dialectOf } from "./dialect-of.ts";
import type { Tables } from "./tables.ts";

/**
 * That a word of the annotation's text begins with each of these. Whatever was asked for comes down to letters and digits
 * first, so nothing in it can mean something to a database. A question without a word in it finds nothing.
 */
export function withWords(db: Kysely<Tables>, asked: readonly string[]): RawBuilder<SqlBool> {
  const words = searchWords(...asked);
  if (words.length === 0) return sql`false`;
  if (dialectOf(db) === "postgres") {
    const beginnings = words.map((word) => `'${word}':*`).join(" & ");
    return sql`(tenant, annotation_id) in (select tenant, annotation_id from annotation_texts
      where array_to_tsvector(string_to_array(words, ' ')) @@ ${beginnings}::tsquery)`;
  }
  const beginnings = words.map((word) => `"${word}"*`).join(" AND ");
  return sql`(tenant, annotation_id) in (select tenant, annotation_id from annotation_texts where text_number in
    (select rowid from annotation_words where annotation_words match ${beginnings}))`;
}
