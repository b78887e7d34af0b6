import type { Signal } from "../protocol/judgments/annotation.ts";
import type { Run } from "../protocol/runs/run.ts";
import type { AnnotationRecord, AnnotationWrite } from "../store/port/judgments.ts";
import type { Store, Unit } from "../store/port/store.ts";
import { auditDraft, NOW, newId } from "./builders.ts";
import { accept } from "./store-contract/subject.ts";

export const RATED_FOUR: Signal = { kind: "rating", rating: 4 };
/** Two of these are read at once, and not three. */
export const LARGE_NOTE = "ship it ".repeat(90_000);

export const FLAG: Signal = { kind: "flag" };

export function label(name: string): Signal {
  return { kind: "label", label: name };
}

export function rating(stars: number): Signal {
  return { kind: "rating", rating: stars };
}

/** What a person said about a run, unless `more` says otherwise; a flag is open. */
export function annotationOf(run: Run, more: Partial<AnnotationRecord> = {}): AnnotationRecord {
  const { tenant, workspace } = run.owner;
  const createdAtMs = more.createdAtMs ?? NOW;
  const signal = more.signal ?? RATED_FOUR;
  return {
    annotationId: newId("ann", createdAtMs),
    tenant,
    ...(workspace === undefined ? {} : { workspace }),
    runId: run.runId,
    workflowId: run.workflowId,
    target: {},
    signal,
    actor: "pat",
    actorKind: "person",
    createdAtMs,
    state: "live",
    ...(signal.kind === "flag" ? { flag: { status: "open" } } : {}),
    ...more,
  };
}

export function recording(annotation: AnnotationRecord, earlier?: AnnotationRecord): AnnotationWrite {
  if (earlier === undefined) return { type: "record", annotation };
  return { type: "record", annotation: { ...annotation, supersedes: earlier.annotationId }, earlier };
}

export function retracting(earlier: AnnotationRecord): AnnotationWrite {
  return { type: "retract", earlier, retraction: { by: "sam", atMs: NOW + 5, reason: "wrong run" } };
}

export function closing(earlier: AnnotationRecord): AnnotationWrite {
  return { type: "close", earlier, flag: { status: "closed", by: "sam", atMs: NOW + 6, note: "looked into" } };
}

export function importing(annotation: AnnotationRecord, earlier?: AnnotationRecord): AnnotationWrite {
  return { type: "import", annotation, ...(earlier === undefined ? {} : { earlier }) };
}

/** A unit of these writes with the audit entry that gives them their place. */
export function judging(tenant: string, ...annotations: readonly AnnotationWrite[]): Unit {
  return { tenant, annotations, audit: [auditDraft("annotation.record")] };
}

/** Records, in one unit. */
export async function annotate(store: Store, ...annotations: readonly AnnotationRecord[]): Promise<void> {
  const [first] = annotations;
  if (first !== undefined) await accept(store, judging(first.tenant, ...annotations.map((one) => recording(one))));
}
