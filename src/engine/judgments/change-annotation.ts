import { AppError } from "../../protocol/errors.ts";
import type { CloseFlagRequest, RetractRequest } from "../../protocol/judgments/annotation-api.ts";
import type { AnnotationRecord, AnnotationWrite } from "../../store/port/judgments.ts";
import { type ApiRequest, auditDraft, commitUnit } from "../execute.ts";
import type { Host } from "../host.ts";
import { isAdmin } from "../identity/roles.ts";
import { requireAuthor, requireLive, requireOverruling } from "./annotate.ts";
import { shownAnnotation, visibleAnnotation } from "./list-annotations.ts";

interface ChangeAnnotation<Request> extends ApiRequest<Request, AnnotationRecord> {
  readonly annotationId: string;
}

/** Retracts a judgment of the caller or, for admins, of others; a person's judgment with a key of kind user. Its content stays on record. */
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

/** Closes a flag. All principals that may judge may close flags. */
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
  const note = { action, details: { kind: signal.kind } };
  const audit = [auditDraft(caller, host.nowMs(), `${runId}/${annotationId}`, note)];
  await commitUnit(host, { tenant: caller.tenant, annotations: [change], audit }, outcome);
}
