import { type Kysely, sql } from "kysely";
import type { Document, DocumentId, DocumentKind, DocumentQuery, DocumentSize } from "../port/documents.ts";
import { documents } from "../schema/documents.ts";
import type { Tables } from "../schema/tables.ts";

export async function readDocument(
  db: Kysely<Tables>,
  { tenant, kind, key }: DocumentId,
): Promise<Document | undefined> {
  const row = await db
    .selectFrom("documents")
    .selectAll()
    .where("tenant", "=", tenant)
    .where("kind", "=", kind)
    .where("doc_key", "=", key)
    .executeTakeFirst();
  return row && documents.toRecord(row);
}

/** Keys per statement: few enough parameters for either database. */
const KEYS_AT_ONCE = 500;

export async function readDocuments(
  db: Kysely<Tables>,
  tenant: string,
  kind: DocumentKind,
  keys: readonly string[],
): Promise<Document[]> {
  const found: Document[] = [];
  for (let i = 0; i < keys.length; i += KEYS_AT_ONCE) {
    const rows = await db
      .selectFrom("documents")
      .selectAll()
      .where("tenant", "=", tenant)
      .where("kind", "=", kind)
      .where("doc_key", "in", keys.slice(i, i + KEYS_AT_ONCE))
      .execute();
    found.push(...rows.map(documents.toRecord));
  }
  return found;
}

/** Greater than every text that begins with a prefix, byte by byte: nothing is encoded higher. */
const LAST = "\u{10ffff}";

export async function listDocuments(
  db: Kysely<Tables>,
  tenant: string,
  kind: DocumentKind,
  query: DocumentQuery,
): Promise<Document[]> {
  const rows = await documentsFound(db, tenant, kind, query).selectAll().execute();
  return rows.map(documents.toRecord);
}

export async function documentSizes(
  db: Kysely<Tables>,
  tenant: string,
  kind: DocumentKind,
  query: DocumentQuery,
): Promise<DocumentSize[]> {
  const bytes = sql<number>`octet_length(body)`.as("bytes");
  const rows = await documentsFound(db, tenant, kind, query).select(["doc_key", bytes]).execute();
  return rows.map(({ doc_key, bytes }) => ({ key: doc_key, bytes }));
}

function documentsFound(
  db: Kysely<Tables>,
  tenant: string,
  kind: DocumentKind,
  { limit, after, prefix }: DocumentQuery,
) {
  let found = db.selectFrom("documents").where("tenant", "=", tenant).where("kind", "=", kind);
  if (after !== undefined) found = found.where("doc_key", ">", after);
  if (prefix !== undefined) found = found.where("doc_key", ">=", prefix).where("doc_key", "<", `${prefix}${LAST}`);
  return found.orderBy("doc_key").limit(limit);
}
