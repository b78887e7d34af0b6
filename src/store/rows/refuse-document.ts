import type { DocumentId, DocumentWrite } from "../port/documents.ts";
import type { Refusal } from "../port/store.ts";

export interface DocumentCheck {
  readonly id: DocumentId;
  /** The revision it must be at; 0 is that there is none. */
  readonly revision: number;
}

export function documentChecks(writes: readonly DocumentWrite[]): DocumentCheck[] {
  return writes.flatMap((write) => {
    if (write.type === "keep") return [];
    if (write.type === "delete") return [{ id: idOf(write.id), revision: write.revision }];
    return [{ id: idOf(write.document), revision: write.document.revision - 1 }];
  });
}

export function refuseDocument({ id, revision }: DocumentCheck, standing: number): Refusal | undefined {
  return standing === revision ? undefined : { type: "document", ...id, revision: standing };
}

function idOf({ tenant, kind, key }: DocumentId): DocumentId {
  return { tenant, kind, key };
}
