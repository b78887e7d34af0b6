import { AppError } from "../../protocol/errors.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import type { Store } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { blindness } from "./list-annotations.ts";

export async function visibleAnnotation(
  { store }: Pick<Host, "store">,
  visible: Visibility,
  annotationId: string,
): Promise<AnnotationRecord> {
  const found = await store.readAnnotation(visible, annotationId);
  if (found === undefined) throw new AppError("not_found", { what: "annotation", annotationId });
  return found;
}

/** What a blind queue keeps from the caller in lists, it keeps from them one by one. */
export async function shownAnnotation(host: Host, caller: Caller, annotationId: string): Promise<AnnotationRecord> {
  const found = await visibleAnnotation(host, caller, annotationId);
  if (await isListedFor(host.store, caller, found)) return found;
  throw new AppError("not_found", { what: "annotation", annotationId });
}

export async function isListedFor(
  store: Pick<Store, "listAnnotations">,
  caller: Caller,
  { annotationId, queueItemId }: AnnotationRecord,
): Promise<boolean> {
  const blind = blindness(caller);
  if (queueItemId === undefined || blind.blindFor === undefined) return true;
  const listed = await store.listAnnotations(caller, { annotationId, order: "oldest", limit: 1, ...blind });
  return listed.length > 0;
}
