import type { CloseFlagRequest, RetractRequest } from "../protocol/annotation-api.ts";
import { AppError } from "../protocol/errors.ts";
import type { Caller, Visibility } from "../protocol/identity.ts";
import { roleContains } from "../protocol/scopes.ts";
import type { AnnotationRecord, AnnotationWrite } from "../store/judgments.ts";
import { requireAuthor, requireCommitted, requireLive } from "./annotate.ts";
import { auditDraft, type Recorder } from "./execute.ts";
import type { Host } from "./host.ts";

export interface ChangeAnnotation<Request> {
  readonly caller: Caller;
  readonly annotationId: string;
  readonly request: Request;
  readonly record: Recorder<AnnotationRecord>;
}

export async function visibleAnnotation(
  { store }: Pick<Host, "store">,
  visible: Visibility,
  annotationId: string,
): Promise<AnnotationRecord> {
  const found = await store.readAnnotation(visible, annotationId);
  if (found === undefined) throw new AppError("not_found", { what: "annotation", annotationId });
  return found;
}

/** The author takes a judgment back, or an admin does. What was said stays on record. */
export async function retract(
  host: Host,
  { caller, annotationId, request, record }: ChangeAnnotation<RetractRequest>,
): Promise<AnnotationRecord> {
  const earlier = await visibleAnnotation(host, caller, annotationId);
  if (!isAdmin(caller)) requireAuthor(caller, earlier, "only its author or an admin can retract it");
  requireLive(earlier);
  const atMs = host.nowMs();
  const retraction = { by: caller.principal, atMs, reason: host.scrubber.scrubText(request.reason) };
  const after: AnnotationRecord = { ...earlier, state: "retracted", retraction };
  await change(host, caller, atMs, after, "annotation.retract", { type: "retract", earlier, retraction }, record);
  return after;
}

/** Whoever may judge may say that a flag has been dealt with. */
export async function closeFlag(
  host: Host,
  { caller, annotationId, request, record }: ChangeAnnotation<CloseFlagRequest>,
): Promise<AnnotationRecord> {
  const earlier = await visibleAnnotation(host, caller, annotationId);
  requireLive(earlier);
  if (earlier.flag?.status !== "open") {
    const problem = earlier.flag === undefined ? "it is no flag" : "the flag is closed already";
    throw new AppError("annotation_conflict", { annotationId, problem });
  }
  const atMs = host.nowMs();
  const note = host.scrubber.scrubText(request.note);
  const flag = { status: "closed" as const, by: caller.principal, atMs, note };
  const after: AnnotationRecord = { ...earlier, flag };
  await change(host, caller, atMs, after, "annotation.close", { type: "close", earlier, flag }, record);
  return after;
}

export function isAdmin({ roles }: Caller): boolean {
  return roles.some((role) => roleContains(role, "admin"));
}

async function change(
  host: Host,
  caller: Caller,
  atMs: number,
  after: AnnotationRecord,
  action: string,
  write: AnnotationWrite,
  record: Recorder<AnnotationRecord>,
): Promise<void> {
  const outcome = record(after);
  const { runId, annotationId, signal } = after;
  const details = { kind: signal.kind };
  const committed = await host.store.commit({
    tenant: caller.tenant,
    annotations: [write],
    audit: [auditDraft(caller, atMs, `${runId}/${annotationId}`, { action, details })],
    ...(outcome === undefined ? {} : { idempotency: outcome }),
  });
  requireCommitted(committed);
}
