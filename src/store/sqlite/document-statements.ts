import type { DocumentsTable } from "../rows/document-rows.ts";

/** The order in which values are bound, and columns named. */
export const DOCUMENT_COLUMNS = [
  "tenant",
  "kind",
  "doc_key",
  "workspace",
  "run_id",
  "revision",
  "at",
  "expires_at",
  "body",
] as const satisfies readonly (keyof DocumentsTable)[];

const INSERT = `insert into documents (${DOCUMENT_COLUMNS}) values (${DOCUMENT_COLUMNS.map(() => "?")})
  on conflict (tenant, kind, doc_key) do`;

/** What units write of documents. `flatten-documents.ts` gives the values. */
export const DOCUMENT_WRITES = {
  putDocument: `${INSERT} update set workspace = excluded.workspace, run_id = excluded.run_id,
    revision = excluded.revision, at = excluded.at, expires_at = excluded.expires_at, body = excluded.body`,
  keepDocument: `${INSERT} nothing`,
  deleteDocument: "delete from documents where tenant = ? and kind = ? and doc_key = ?",
} as const;

export const DOCUMENT_READS = {
  documentHead: "select revision from documents where tenant = ? and kind = ? and doc_key = ?",
} as const;
