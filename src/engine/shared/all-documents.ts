import { defined } from "../../protocol/defined.ts";
import type { Document, DocumentKind, DocumentSize, Documents } from "../../store/port/documents.ts";
import { pauses } from "../worker/pauses.ts";

export type DocumentReads = Pick<Documents, "documentSizes" | "readDocuments">;

const KEYS_AT_ONCE = 500;
/** Bytes of documents that are read at once; one is, however large. */
const BYTES_AT_ONCE = 2_000_000;

/**
 * All documents of a kind, or those whose key begins with the prefix, ascending by key. A few bytes of them are read at a time and each is
 * mapped as it comes: a document may be megabytes, and there may be thousands.
 */
export async function allDocuments<T>(
  store: DocumentReads,
  tenant: string,
  kind: DocumentKind,
  query: { readonly prefix?: string | undefined },
  read: (document: Document) => T,
): Promise<T[]> {
  const found: T[] = [];
  for await (const document of eachDocument(store, tenant, kind, query)) found.push(read(document));
  return found;
}

/** The same one by one, with pauses. What was taken of one is all that is kept of it. */
export async function* eachDocument(
  store: DocumentReads,
  tenant: string,
  kind: DocumentKind,
  { prefix }: { readonly prefix?: string | undefined },
): AsyncGenerator<Document, void> {
  const pause = pauses();
  for await (const sizes of sizePages(store, tenant, kind, { prefix })) {
    for (const keys of fitting(sizes)) {
      const documents = new Map((await store.readDocuments(tenant, kind, keys)).map((one) => [one.key, one]));
      for (const key of keys) {
        const document = documents.get(key);
        if (document !== undefined) yield document;
        await pause();
      }
    }
  }
}

/** Keys and sizes of the same, a page at a time. */
export async function* sizePages(
  store: Pick<Documents, "documentSizes">,
  tenant: string,
  kind: DocumentKind,
  { prefix }: { readonly prefix?: string | undefined },
): AsyncGenerator<DocumentSize[], void> {
  for (let after: string | undefined; ; ) {
    const page = await store.documentSizes(tenant, kind, { limit: KEYS_AT_ONCE, ...defined({ prefix, after }) });
    yield page;
    if (page.length < KEYS_AT_ONCE) return;
    after = page.at(-1)?.key;
  }
}

/** Keys whose documents are read together. */
function* fitting(sizes: readonly DocumentSize[]): Generator<string[]> {
  let keys: string[] = [];
  let left = BYTES_AT_ONCE;
  for (const { key, bytes } of sizes) {
    if (keys.length > 0 && bytes > left) {
      yield keys;
      keys = [];
      left = BYTES_AT_ONCE;
    }
    keys.push(key);
    left -= bytes;
  }
  if (keys.length > 0) yield keys;
}
