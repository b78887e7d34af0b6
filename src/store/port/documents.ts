/**
 * Things with a name and a revision that are read whole: agents, suites, deployments, baselines, certificates, memories, what
 * an evaluation found. Only the module of a kind knows its content.
 */
export interface Documents {
  readDocument(id: DocumentId): Promise<Document | undefined>;
  /** Those of the keys that are there, in no particular order. */
  readDocuments(tenant: string, kind: DocumentKind, keys: readonly string[]): Promise<Document[]>;
  /** Ascending by key, byte by byte. */
  listDocuments(tenant: string, kind: DocumentKind, query: DocumentQuery): Promise<Document[]>;
  /** The keys that `listDocuments` would return for the same query, with the bytes of the bodies, without reading these. */
  documentSizes(tenant: string, kind: DocumentKind, query: DocumentQuery): Promise<DocumentSize[]>;
}

export interface DocumentSize {
  readonly key: string;
  readonly bytes: number;
}

export type DocumentKind =
  | "agent"
  | "agent-pack"
  | "baseline"
  | "calibration-verdict"
  | "certificate"
  | "deployment"
  | "eval-body"
  | "eval-cache"
  | "eval-run"
  | "eval-task"
  | "gate-suites"
  | "key-origin"
  | "memory"
  | "owner-leaving"
  | "principal"
  | "promotion-policy"
  | "promotion-policy-turn"
  | "suite"
  | "task-link";

export interface DocumentId {
  /** `HOST_WIDE` or the tenant it belongs to. */
  readonly tenant: string;
  readonly kind: DocumentKind;
  readonly key: string;
}

export interface Document extends DocumentId {
  readonly workspace?: string;
  /** It goes when this run goes. Only in a unit that writes the run too, so that it is there. */
  readonly runId?: string;
  /** Counts up with every write; 1 when it is new. */
  readonly revision: number;
  /** When it was written last. */
  readonly atMs: number;
  /** When it may be removed. Readers check it: an expired document stays until the next clean-up. */
  readonly expiresAtMs?: number;
  /** JSON. */
  readonly body: string;
}

export interface DocumentQuery {
  readonly limit: number;
  /** The last key of the page before. */
  readonly after?: string;
  /** Only keys that begin with this. */
  readonly prefix?: string;
}

export type DocumentWrite =
  /** Refused unless it stands at the revision before; 0 is that it is not there. */
  | { readonly type: "put"; readonly document: Document }
  /** Only if it is not there; never refused. */
  | { readonly type: "keep"; readonly document: Document }
  /** Refused unless it stands at this revision. */
  | { readonly type: "delete"; readonly id: DocumentId; readonly revision: number }
  /** Writes nothing; refused unless it stands at this revision, where 0 is that it is not there. Only with audit entries, as for `preconditions`. */
  | { readonly type: "stands"; readonly id: DocumentId; readonly revision: number };

export function idIn(write: DocumentWrite): DocumentId {
  return "id" in write ? write.id : write.document;
}
