import { defined } from "../../protocol/defined.ts";
import type { Document, DocumentKind, Documents } from "../../store/port/documents.ts";

/**
 * All documents of a kind, or those whose key begins with the prefix, ascending by key. They are read page by page and each is mapped as it
 * comes: the texts of thousands of documents are not held at once.
 */
export async function allDocuments<T>(
  store: Pick<Documents, "listDocuments">,
  tenant: string,
  kind: DocumentKind,
  { prefix, pageSize = 200 }: { readonly prefix?: string | undefined; readonly pageSize?: number },
  read: (document: Document) => T,
): Promise<T[]> {
  const found: T[] = [];
  for (let after: string | undefined; ; ) {
    const page = await store.listDocuments(tenant, kind, { limit: pageSize, ...defined({ prefix, after }) });
    found.push(...page.map(read));
    if (page.length < pageSize) return found;
    after = page.at(-1)?.key;
  }
}
