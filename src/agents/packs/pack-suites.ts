import type { Documents, DocumentWrite } from "../../store/port/documents.ts";

/** Reads and stores the eval suites of packs. */
export interface PackSuites {
  read(bytes: Uint8Array): ReadSuite;
}

export type ReadSuite =
  | { readonly ok: true; readonly suite: PackSuite }
  /** Problems, each with its place in the file. */
  | { readonly ok: false; readonly problems: readonly string[] };

export interface PackSuite {
  /** `id@version`. */
  readonly ref: string;
  readonly sha256: string;
  /**
   * The writes that store a suite for a tenant, or the host; none where it is stored already. Throws `suite_conflict` where
   * another suite has its name.
   */
  writes(
    store: Documents,
    by: { readonly tenant: string; readonly principal: string },
    atMs: number,
  ): Promise<DocumentWrite[]>;
}
