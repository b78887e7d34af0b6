import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { CloseFlagRequest, RetractRequest } from "../../protocol/judgments/annotation-api.ts";
import type { AnnotationRecord, AnnotationWrite } from "../../store/port/judgments.ts";
import { auditDraft, type Recorder } from "../execute.ts";
import type { Host } from "../host.ts";
import { isAdmin } from "../identity/is-admin.ts";
import { requireAuthor, requireCommitted, requireLive, requireOverruling } from "./annotate.ts";
import { shownAnnotation, visibleAnnotation } from "./shown-annotation.ts";

interface ChangeAnnotation<Request> {
  readonly caller: Caller;
  readonly annotationId: string;
  readonly request: Request;
  readonly record: Recorder<AnnotationRecord>;
}

/** The author takes a judgment back, or an admin does; a person's judgment with a person's key. What was said stays on record. */
export async function retract(
  host: Host,
  { caller, annotationId, request, record }: ChangeAnnotation<RetractRequest>,
): Promise<AnnotationRecord> {
  const earlier = await visibleAnnotation(host, caller, annotationId);
  if (!isAdmin(caller)) requireAuthor(caller, earlier, "only its author or an admin can retract it");
  requireOverruling(caller, earlier);
  requireLive(earlier);
  const atMs = host.nowMs();
  const retraction = { by: caller.principal, atMs, reason: host.scrubber.scrubText(request.reason) };
  const after: AnnotationRecord = { ...earlier, state: "retracted", retraction };
  await write(host, { caller, after, record, action: "annotation.retract" }, { type: "retract", earlier, retraction });
  return after;
}

/** Whoever may judge may say that a flag has been dealt with. */
export async function closeFlag(
  host: Host,
  { caller, annotationId, request, record }: ChangeAnnotation<CloseFlagRequest>,
): Promise<AnnotationRecord> {
  const earlier = await shownAnnotation(host, caller, annotationId);
  requireLive(earlier);
  if (earlier.flag?.status !== "open") {
    const problem = earlier.flag === undefined ? "it is no flag" : "the flag is closed already";
    throw new AppError("annotation_conflict", { annotationId, problem });
  }
  const atMs = host.nowMs();
  const note = host.scrubber.scrubText(request.note);
  const flag = { status: "closed" as const, by: caller.principal, atMs, note };
  const after: AnnotationRecord = { ...earlier, flag };
  await write(host, { caller, after, record, action: "annotation.close" }, { type: "close", earlier, flag });
  return after;
}

interface Written extends Pick<ChangeAnnotation<unknown>, "caller" | "record"> {
  readonly after: AnnotationRecord;
  readonly action: string;
}

async function write(host: Host, { caller, after, record, action }: Written, change: AnnotationWrite): Promise<void> {
  const outcome = record(after);
  const { runId, annotationId, signal } = after;
  const details = { kind: signal.kind };
  const committed = await host.store.commit({
    tenant: caller.tenant,
    annotations: [change],
    audit: [auditDraft(caller, host.nowMs(), `${runId}/${annotationId}`, { action, details })],
    ...defined({ idempotency: outcome }),
  });
  requireCommitted(committed);
}
