import { AppError } from "../protocol/errors.ts";
import { timeOfId } from "../protocol/id.ts";
import {
  ANNOTATION_CHANGES,
  type AnnotationChange,
  type AnnotationChangeKind,
  type ChangePlace,
} from "../store/judgments.ts";
import type { Store } from "../store/store.ts";

/** The id of the frame that tells of a change: the annotation's, and what happened to it since it was recorded. */
export function idOfChange({ change, annotation }: AnnotationChange): string {
  return change === "recorded" ? annotation.annotationId : `${annotation.annotationId}.${change}`;
}

/** The id that a stream begins with: a client that is cut off before the first change resumes there. */
export function idOfPlace({ seq, n }: ChangePlace): string {
  return `at-${seq}.${n}`;
}

type Places = Pick<Store, "annotationHead" | "changePlace" | "changePlaceAt">;

/**
 * Where a client goes on that has this frame. A change that was deleted with its run has no place any more; then
 * everything since its annotation was made is told again, which is more than was missed, and never less.
 */
export async function placeAfter(store: Places, tenant: string, lastEventId: string | undefined): Promise<ChangePlace> {
  if (lastEventId === undefined) return store.annotationHead(tenant);
  const [, seq, n] = /^at-(\d{1,15})\.(\d{1,9})$/.exec(lastEventId) ?? [];
  if (seq !== undefined) {
    // Further than there is: the database is one from before. Whoever waited for that place would miss what comes till then.
    return earlier({ seq: Number(seq), n: Number(n) }, await store.annotationHead(tenant));
  }
  const { annotationId, change } = changeNamed(lastEventId);
  const place = await store.changePlace(tenant, annotationId, change);
  if (place !== undefined) return place;
  const madeAtMs = annotationId.startsWith("ann-") ? timeOfId(annotationId) : undefined;
  if (madeAtMs !== undefined) return store.changePlaceAt(tenant, madeAtMs);
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
