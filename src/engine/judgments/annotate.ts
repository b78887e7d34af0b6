import { agentFields, agentsOfNode } from "../../protocol/agents/agent-of.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { AnnotateRequest } from "../../protocol/judgments/annotation-api.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import type { Committed, Unit } from "../../store/port/store.ts";
import { auditDraft, type Recorder, refused } from "../execute.ts";
import type { Host } from "../host.ts";
import type { RunIdentity } from "../runs/run-identity.ts";
import { actorKindOf, checkAnnotation, scrubSignal, type TargetEvent } from "./decide/annotate.ts";
import { mayOverrule } from "./may-replace.ts";

interface Annotate {
  readonly caller: Caller;
  /** As the caller may see it. */
  readonly run: RunIdentity;
  readonly request: AnnotateRequest;
  readonly record: Recorder<AnnotationRecord>;
}

/** Records a judgment beside a run. Nothing of it enters the run's log, so it does not matter whether the run has ended. */
export async function annotate(host: Host, { caller, run, request, record }: Annotate): Promise<AnnotationRecord> {
  const earlier =
    request.supersedes === undefined ? undefined : await supersededBy(host, caller, run, request.supersedes);
  const annotation = await annotationOf(host, caller, run, request);
  const outcome = record(annotation);
  const committed = await host.store.commit({
    ...recording(caller, [defined({ annotation, earlier })]),
    ...defined({ idempotency: outcome }),
  });
  requireCommitted(committed);
  return annotation;
}

/** The judgment that a request makes, checked and clean. */
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
  const aboutNode = aboutNodeOf(target.nodeId, event);
  return {
    annotationId: host.newId("ann"),
    tenant: owner.tenant,
    ...defined({ workspace: owner.workspace }),
    runId,
    workflowId,
    ...agentFields(agentsOfNode(run, aboutNode)),
    target,
    ...defined({ aboutNode }),
    signal: scrubSignal(request.signal, scrubText),
    ...(note === undefined ? {} : { note: scrubText(note) }),
    actor: caller.principal,
    actorKind: actorKindOf(caller.kind),
    ...defined({ confidence }),
    createdAtMs: host.nowMs(),
    state: "live",
    ...defined({ supersedes }),
    ...(request.signal.kind === "flag" ? { flag: { status: "open" as const } } : {}),
  };
}

function aboutNodeOf(nodeId: string | undefined, event: TargetEvent | undefined): string | undefined {
  return nodeId ?? event?.nodeId;
}

interface Recording {
  readonly annotation: AnnotationRecord;
  readonly earlier?: AnnotationRecord;
}

/** What makes judgments durable: each with an audit entry that says who judged what, and never what was said. */
export function recording(caller: Caller, records: readonly Recording[]): Unit {
  return {
    tenant: caller.tenant,
    annotations: records.map((one) => ({ type: "record", ...one })),
    audit: records.map(({ annotation }) => {
      const { runId, annotationId, signal, target, supersedes } = annotation;
      const granularity = target.eventId !== undefined ? "event" : target.nodeId !== undefined ? "node" : "run";
      const details = defined({ kind: signal.kind, granularity, supersedes });
      return auditDraft(caller, annotation.createdAtMs, `${runId}/${annotationId}`, {
        action: "annotation.create",
        details,
      });
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
    throw new AppError("validation_error", { problem: "supersedes is no annotation of this run", field: "supersedes" });
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

export function requireCommitted(committed: Committed): void {
  if (!committed.ok) throw refused(committed.refusal);
}
