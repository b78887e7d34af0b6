import type { DocumentKind } from "../port/documents.ts";
import { int, jsonText, type Row, table, text, time } from "./table.ts";

/** Things with a name and a revision; tenant "" is host-wide. */
export const documents = table(
  "documents",
  {
    tenant: text(),
    kind: text<DocumentKind>(),
    doc_key: text().as("key"),
    workspace: text().orNull,
    run_id: text().orNull,
    revision: int(),
    at: time(),
    expires_at: time().orNull,
    body: jsonText(),
  },
  { key: ["tenant", "kind", "doc_key"] },
);
export type DocumentsTable = Row<typeof documents>;
