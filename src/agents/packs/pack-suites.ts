import type { Documents, DocumentWrite } from "../../store/port/documents.ts";

/** What reads and keeps the eval suites that packs bring. */
export interface PackSuites {
  read(bytes: Uint8Array): ReadSuite;
}

export type ReadSuite =
  | { readonly ok: true; readonly suite: PackSuite }
  /** Each with its place in the file. */
  | { readonly ok: false; readonly problems: readonly string[] };

export interface PackSuite {
  /** `id@version`. */
  readonly ref: string;
  readonly sha256: string;
  /** What keeps it for a tenant, or the host; nothing where it is there already. Throws `suite_conflict` where another one is. */
  writes(
    store: Documents,
    by: { readonly tenant: string; readonly principal: string },
    atMs: number,
  ): Promise<DocumentWrite[]>;
}
