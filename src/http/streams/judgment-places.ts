import { AppError } from "../../protocol/errors.ts";
import { timeOfId } from "../../protocol/id.ts";
import { ANNOTATION_CHANGES, type AnnotationChangeKind, type ChangePlace } from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";

/**
 * The id of a frame is the place of its change, and a stream begins with one: a client that resumes after it needs no
 * look-up, so nothing that happened to the change since (its run was deleted, the change was imported once more) moves the
 * client forward.
 */
export function idOfPlace({ seq, n }: ChangePlace): string {
  return `at-${seq}.${n}`;
}

type Places = Pick<Store, "annotationHead" | "changePlace">;

const START: ChangePlace = { seq: 0, n: 0 };

/**
 * Where a client resumes. Until version 0.1 ids named the annotation and its change. A client that still has such an id
 * resumes at the place of that change; at the beginning when the change is gone, because its time says nothing about the
 * order of commits.
 */
export async function placeAfter(store: Places, tenant: string, lastEventId: string | undefined): Promise<ChangePlace> {
  if (lastEventId === undefined) return store.annotationHead(tenant);
  const [, seq, n] = /^at-(\d{1,15})\.(\d{1,9})$/.exec(lastEventId) ?? [];
  if (seq !== undefined) {
    // A place after the head: the database was restored from an earlier time. A client that waited for that place would
    // miss all changes until then.
    return earlier({ seq: Number(seq), n: Number(n) }, await store.annotationHead(tenant));
  }
  const { annotationId, change } = changeNamed(lastEventId);
  const place = await store.changePlace(tenant, annotationId, change);
  if (place !== undefined) return place;
  if (annotationId.startsWith("ann-") && timeOfId(annotationId) !== undefined) return START;
  throw new AppError("validation_error", { problem: "Last-Event-ID must be the id of a frame of this stream" });
}

function changeNamed(id: string): { annotationId: string; change: AnnotationChangeKind } {
  for (const change of ANNOTATION_CHANGES) {
    const ending = `.${change}`;
    if (change !== "recorded" && id.endsWith(ending)) return { annotationId: id.slice(0, -ending.length), change };
  }
  return { annotationId: id, change: "recorded" };
}

function earlier(a: ChangePlace, b: ChangePlace): ChangePlace {
  return a.seq < b.seq || (a.seq === b.seq && a.n <= b.n) ? a : b;
}
