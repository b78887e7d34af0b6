import { createHash } from "node:crypto";
import { refused } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { annotationOf, recording, requireOverruling } from "../../engine/judgments/annotate.ts";
import { isMadeHere } from "../../engine/judgments/may-replace.ts";
import { runIdentity } from "../../engine/runs/run-identity.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import { formatId } from "../../protocol/id.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { NOTE_MAX, type Target } from "../../protocol/judgments/annotation.ts";
import type { AnnotateRemarkRequest } from "../../protocol/reviews/api.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { type ItemDecision, itemsOf, type ReviewItem } from "./conversations.ts";
import { timedRounds, visibleReview } from "./stored-review.ts";

export interface AnnotateRemark {
  readonly caller: Caller;
  readonly sessionId: string;
  readonly remarkId: string;
  readonly request: AnnotateRemarkRequest;
}

export interface AnnotatedRemark {
  readonly annotation: AnnotationRecord;
  readonly created: boolean;
}

/**
 * Adds a label to the run, with the remark and the decision as its note. Its id is derived from its subject, so that concurrent
 * requests make one label. A label about an earlier decision of the same caller is replaced.
 */
export async function annotateRemark(host: Host, command: AnnotateRemark): Promise<AnnotatedRemark> {
  const { caller, sessionId, remarkId, request } = command;
  const stored = await visibleReview(host, caller, sessionId);
  const item = itemsOf(await timedRounds(host, stored)).findLast(({ id }) => id === remarkId);
  if (item === undefined) throw new AppError("not_found", { what: "remark", sessionId });
  const decision = item.decisions.at(-1);
  if (decision === undefined) throw new AppError("review_item_undecided", { sessionId, remarkId });
  const { runId = item.runId, eventId, nodeId } = request;
  if (runId === undefined) {
    throw validationError("body must have runId: the artifact named no run", { field: "runId" });
  }
  const run = await runIdentity(host, caller, runId);
  const target = { ...defined({ eventId, nodeId }) };
  const idOf = (one: ItemDecision) => annotationIdOf(sessionId, item, one, runId, target);
  const annotationId = idOf(decision);
  const current = await host.store.annotationsById(caller.tenant, item.decisions.map(idOf));
  const same = current.find((one) => one.annotationId === annotationId);
  if (same !== undefined) return { annotation: madeHere(same), created: false };
  const earlier = current.findLast(({ state, actor }) => state === "live" && actor === caller.principal);
  if (earlier !== undefined) requireOverruling(caller, earlier);
  const made = await annotationOf(host, caller, run, {
    target,
    signal: { kind: "label", label: `review-${decision.status}` },
    note: noteOf(sessionId, item, decision),
    ...(earlier === undefined ? {} : { supersedes: earlier.annotationId }),
  });
  const annotation = { ...made, annotationId };
  const one = { annotation, ...defined({ earlier }) };
  const committed = await host.store.commit(recording(caller, [one]));
  if (committed.ok) return { annotation, created: true };
  const [meanwhile] = await host.store.annotationsById(caller.tenant, [annotationId]);
  if (meanwhile === undefined) throw refused(committed.refusal);
  return { annotation: madeHere(meanwhile), created: false };
}

/** The id is predictable, so an import could store a judgment under it; that one is not the caller's. */
function madeHere(annotation: AnnotationRecord): AnnotationRecord {
  if (isMadeHere(annotation)) return annotation;
  const { annotationId } = annotation;
  throw new AppError("annotation_conflict", { annotationId, problem: "a judgment with its id was imported" });
}

function annotationIdOf(
  sessionId: string,
  { conversation, id }: ReviewItem,
  { at, place }: ItemDecision,
  runId: string,
  { eventId = "", nodeId = "" }: Target,
): string {
  const about = JSON.stringify([sessionId, conversation, id, place, runId, eventId, nodeId]);
  return formatId("ann", Date.parse(at), createHash("sha256").update(about).digest());
}

function noteOf(sessionId: string, item: ReviewItem, { status, reason_code, explanation }: ItemDecision): string {
  const why = [reason_code, explanation].filter((one) => one !== undefined && one !== "").join(": ");
  const lines = [
    `${item.aspect}: ${item.description}`,
    `Recommended: ${item.recommendation}`,
    `Decided: ${status}${why === "" ? "" : ` (${why})`}`,
    `Remark ${item.id} of review ${sessionId}`,
  ];
  // PostgreSQL has no text with a NUL in it, and an artifact that is quoted may.
  return lines.join("\n").slice(0, NOTE_MAX).replaceAll("\0", "\ufffd").toWellFormed();
}
