import type { Document, DocumentId, DocumentWrite } from "../port/documents.ts";
import type { Refusal, Unit } from "../port/store.ts";
import { type DocumentsTable, documentRow } from "../rows/document-rows.ts";
import { documentChecks, refuseDocument } from "../rows/refuse-document.ts";
import type { PreparedUnit } from "./prepare-unit.ts";
import { prepared } from "./prepared.ts";
import { sorted } from "./row-order.ts";
import { byKey, change, type Question, type RowsOf, type Standing, transpose } from "./standing.ts";
import { insertInto, type Statement, update } from "./statements.ts";

/** Of documents: what the units of a batch depend on, as `StandingRows` is of the rest. */
export interface StandingDocuments {
  /** By `documentKey`. */
  readonly documents: Map<string, Standing<StandingDocument>>;
}

interface StandingDocument {
  readonly revision: number;
  /** All of it, once a unit has written the document. */
  readonly written?: DocumentsTable;
}

function documentKey({ tenant, kind, key }: DocumentId): string {
  return JSON.stringify([tenant, kind, key]);
}

const LOCK_DOCUMENTS = `select documents.tenant, kind, doc_key, revision
  from unnest($1::text[], $2::text[], $3::text[]) as given(tenant, kind, doc_key)
  join documents using (tenant, kind, doc_key)
  order by tenant, kind, doc_key for update of documents`;

export function documentQuestions(batch: readonly PreparedUnit[]): Question[] {
  const wanted = new Map<string, readonly string[]>();
  for (const { unit } of batch) {
    for (const write of unit.documents ?? []) {
      const { tenant, kind, key } = idOf(write);
      wanted.set(documentKey({ tenant, kind, key }), [tenant, kind, key]);
    }
  }
  return [{ name: "lock documents", text: LOCK_DOCUMENTS, values: transpose(3, wanted) }];
}

export function standingDocuments(rowsOf: RowsOf): StandingDocuments {
  return {
    documents: byKey(rowsOf("lock documents"), ({ tenant, kind, doc_key, revision }) => [
      documentKey({ tenant, kind, key: doc_key }),
      { revision } as StandingDocument,
    ]),
  };
}

export function checkDocuments(
  { documents: writes = [] }: Unit,
  { documents }: StandingDocuments,
): Refusal | undefined {
  for (const check of documentChecks(writes)) {
    const refusal = refuseDocument(check, documents.get(documentKey(check.id))?.row.revision ?? 0);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

export function applyDocuments(writes: readonly DocumentWrite[], { documents }: StandingDocuments): void {
  for (const write of writes) {
    if (write.type === "delete") continue;
    const { document } = write;
    const key = documentKey(document);
    if (write.type === "keep" && documents.has(key)) continue;
    change(documents, key, { revision: document.revision, written: documentRow(document) });
  }
}

/** A unit that deletes is a batch of its own, so nothing of it is written too. */
export function writeDocumentRows({ documents }: StandingDocuments, units: readonly PreparedUnit[]): Statement[] {
  const changed = [...documents.values()].flatMap(({ row, stored }) =>
    row.written === undefined ? [] : [{ stored, row: row.written }],
  );
  const rows = (stored: boolean) =>
    sorted(
      changed.filter((one) => one.stored === stored).map(({ row }) => row),
      ({ tenant, kind, doc_key }) => [tenant, kind, doc_key],
    );
  const gone = units.flatMap(({ unit }) => unit.documents ?? []).filter((write) => write.type === "delete");
  return [
    ...updateDocuments(rows(true)),
    ...insertDocuments(rows(false)),
    ...gone.map(({ id }) => ({ ...prepared("delete document", DELETE), values: [id.tenant, id.kind, id.key] })),
  ];
}

const DELETE = "delete from documents where tenant = $1 and kind = $2 and doc_key = $3";

const DOCUMENT = {
  tenant: "text",
  kind: "text",
  doc_key: "text",
  workspace: "text",
  run_id: "text",
  revision: "integer",
  at: "bigint",
  expires_at: "bigint",
  body: "text",
} as const;
const updateDocuments = update("documents", DOCUMENT, ["tenant", "kind", "doc_key"]);
const insertDocuments = insertInto("documents", DOCUMENT);

function idOf(write: DocumentWrite): DocumentId | Document {
  return write.type === "delete" ? write.id : write.document;
}
