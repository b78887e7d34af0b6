import type { DocumentWrite } from "../port/documents.ts";
import type { Refusal } from "../port/store.ts";
import { documentRow } from "../rows/document-rows.ts";
import { type DocumentCheck, documentChecks, refuseDocument } from "../rows/refuse-document.ts";
import { DOCUMENT_COLUMNS } from "./document-statements.ts";
import type { Write } from "./operations.ts";
import type { Statements } from "./statements.ts";

/** The rows of documents, and what they depend on. */
export function flattenDocuments(documents: readonly DocumentWrite[] = [], writes: Write[]): DocumentCheck[] {
  for (const write of documents) {
    if (write.type === "delete") {
      const { tenant, kind, key } = write.id;
      writes.push(["deleteDocument", [tenant, kind, key]]);
      continue;
    }
    const row = documentRow(write.document);
    const values = DOCUMENT_COLUMNS.map((column) => row[column]);
    writes.push([write.type === "put" ? "putDocument" : "keepDocument", values]);
  }
  return documentChecks(documents);
}

export function checkDocuments(checks: readonly DocumentCheck[], { documentHead }: Statements): Refusal | undefined {
  for (const check of checks) {
    const { tenant, kind, key } = check.id;
    const row = documentHead.get(tenant, kind, key) as { revision: number } | undefined;
    const refusal = refuseDocument(check, row?.revision ?? 0);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
