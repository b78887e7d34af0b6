import { agentFields, agentsOfNode } from "../../protocol/agents/agent-of.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import { type Caller, visibilityOf } from "../../protocol/identity/identity.ts";
import type { AnnotateRequest } from "../../protocol/judgments/annotation-api.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import type { Unit } from "../../store/port/store.ts";
import { type ApiRequest, auditDraft, commitUnit } from "../execute.ts";
import type { Host } from "../host.ts";
import type { RunIdentity } from "../runs/run-identity.ts";
import { actorKindOf, checkAnnotation, scrubSignal } from "./decide/annotate.ts";
import { mayOverrule } from "./may-replace.ts";

interface Annotate extends ApiRequest<AnnotateRequest, AnnotationRecord> {
  /** The run, which the caller can see. */
  readonly run: RunIdentity;
}

/** Records a judgment of a run. It is not in the run's log, so it can be recorded after the run has ended. */
export async function annotate(host: Host, { caller, run, request, record }: Annotate): Promise<AnnotationRecord> {
  const earlier =
    request.supersedes === undefined ? undefined : await supersededBy(host, caller, run, request.supersedes);
  const annotation = await annotationOf(host, caller, run, request);
  await commitUnit(host, recording(caller, [defined({ annotation, earlier })]), record(annotation));
  return annotation;
}

/** The judgment of a request, checked and scrubbed. */
export async function annotationOf(
  host: Host,
  caller: Caller,
  run: RunIdentity,
  request: AnnotateRequest,
): Promise<AnnotationRecord> {
  const { target = {}, note, confidence, supersedes } = request;
  const plan = await host.plans.byHash(run.workflowHash);
  const event = target.eventId === undefined ? undefined : await host.store.findEvent(run.runId, target.eventId);
  checkAnnotation(request, caller.kind, { event, hasNode: (nodeId) => plan.graph.node.has(nodeId) });
  const { scrubText } = host.scrubber;
  const { runId, workflowId, owner } = run;
  const aboutNode = target.nodeId ?? event?.nodeId;
  const optional = {
    aboutNode,
    note: note === undefined ? undefined : scrubText(note),
    confidence,
    supersedes,
    flag: request.signal.kind === "flag" ? { status: "open" as const } : undefined,
  };
  return {
    annotationId: host.newId("ann"),
    ...visibilityOf(owner),
    runId,
    workflowId,
    ...agentFields(agentsOfNode(run, aboutNode)),
    target,
    signal: scrubSignal(request.signal, scrubText),
    actor: caller.principal,
    actorKind: actorKindOf(caller.kind),
    createdAtMs: host.nowMs(),
    state: "live",
    ...defined(optional),
  };
}

interface Recording {
  readonly annotation: AnnotationRecord;
  readonly earlier?: AnnotationRecord;
}

/** The unit that records judgments, each with an audit entry that has its author and target, never its content. */
export function recording(caller: Caller, records: readonly Recording[]): Unit {
  return {
    tenant: caller.tenant,
    annotations: records.map((one) => ({ type: "record", ...one })),
    audit: records.map(({ annotation }) => {
      const { runId, annotationId, signal, target, supersedes } = annotation;
      const granularity = target.eventId !== undefined ? "event" : target.nodeId !== undefined ? "node" : "run";
      const details = defined({ kind: signal.kind, granularity, supersedes });
      const note = { action: "annotation.create", details };
      return auditDraft(caller, annotation.createdAtMs, `${runId}/${annotationId}`, note);
    }),
  };
}

async function supersededBy(
  host: Host,
  caller: Caller,
  run: RunIdentity,
  annotationId: string,
): Promise<AnnotationRecord> {
  const earlier = await host.store.readAnnotation(caller, annotationId);
  if (earlier === undefined || earlier.runId !== run.runId) {
    throw validationError("supersedes is no annotation of this run", { field: "supersedes" });
  }
  requireAuthor(caller, earlier, "only its author can replace it");
  requireOverruling(caller, earlier);
  requireLive(earlier);
  return earlier;
}

export function requireAuthor(caller: Caller, { actor }: AnnotationRecord, problem: string): void {
  if (actor !== caller.principal) throw new AppError("forbidden", { problem });
}

/** Throws `forbidden` where an agent's key would replace or withdraw a person's judgment. */
export function requireOverruling({ kind }: Caller, earlier: AnnotationRecord): void {
  if (mayOverrule({ actorKind: actorKindOf(kind) }, earlier)) return;
  const problem = "it is a person's judgment, and only a key of kind user replaces or withdraws those";
  throw new AppError("forbidden", { problem, annotationId: earlier.annotationId });
}

export function requireLive({ annotationId, state }: AnnotationRecord): void {
  if (state !== "live") throw new AppError("annotation_conflict", { annotationId, problem: `it is ${state}`, state });
}
