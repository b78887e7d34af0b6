import type { Document, DocumentKind } from "../port/documents.ts";

/** Primary key (tenant, kind, doc_key); tenant "" is host-wide. */
export interface DocumentsTable {
  tenant: string;
  kind: string;
  doc_key: string;
  workspace: string | null;
  run_id: string | null;
  revision: number;
  at: number;
  expires_at: number | null;
  /** JSON. */
  body: string;
}

export function documentRow(document: Document): DocumentsTable {
  const { tenant, kind, key, workspace, runId, revision, atMs, expiresAtMs, body } = document;
  return {
    tenant,
    kind,
    doc_key: key,
    workspace: workspace ?? null,
    run_id: runId ?? null,
    revision,
    at: atMs,
    expires_at: expiresAtMs ?? null,
    body,
  };
}

export function toDocument(row: DocumentsTable): Document {
  const { tenant, kind, doc_key, workspace, run_id, revision, at, expires_at, body } = row;
  return {
    tenant,
    kind: kind as DocumentKind,
    key: doc_key,
    ...(workspace === null ? {} : { workspace }),
    ...(run_id === null ? {} : { runId: run_id }),
    revision,
    atMs: at,
    ...(expires_at === null ? {} : { expiresAtMs: expires_at }),
    body,
  };
}
