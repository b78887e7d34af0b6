import type { AnnotationChangeKind, AnnotationRecord, AnnotationWrite } from "../port/judgments.ts";
import type { Unit } from "../port/store.ts";

/** One annotation as it was, if it was there, and as it is afterwards; what happened to it goes into the history. */
export interface AnnotationStep {
  readonly before?: AnnotationRecord;
  readonly after: AnnotationRecord;
  readonly changes: readonly AnnotationChangeKind[];
  /** Whether its run must be here; what comes from elsewhere may be about a run that stayed there. */
  readonly needsRun: boolean;
}

/** The writes of a unit as steps, in order. Throws when they contradict each other, which is a mistake of the caller. */
export function stepsOf({ tenant, annotations = [], audit = [] }: Unit): AnnotationStep[] {
  if (annotations.length === 0) return NONE;
  const steps = annotations.flatMap(stepsOfWrite);
  if (audit.length === 0) throw new Error("a unit changes annotations and has no audit entry to give that its place");
  if (steps.some(({ after }) => after.tenant !== tenant)) throw new Error("a unit changes another tenant's annotation");
  const ids = new Set(steps.map(({ after }) => after.annotationId));
  if (ids.size < steps.length) throw new Error("a unit does two things to one annotation");
  return steps;
}

const NONE: AnnotationStep[] = [];

function stepsOfWrite(write: AnnotationWrite): AnnotationStep[] {
  switch (write.type) {
    case "record":
      return [
        { after: write.annotation, changes: ["recorded"], needsRun: true },
        ...superseding(write.annotation, write.earlier),
      ];
    case "retract": {
      const { earlier, retraction } = write;
      const after: AnnotationRecord = { ...earlier, state: "retracted", retraction };
      return [{ before: earlier, after, changes: ["retracted"], needsRun: true }];
    }
    case "close": {
      const { earlier, flag } = write;
      return [{ before: earlier, after: { ...earlier, flag }, changes: ["closed"], needsRun: true }];
    }
    case "show":
      return [{ before: write.earlier, after: write.earlier, changes: ["shown"], needsRun: true }];
    case "import":
      return [imported(write)];
  }
}

function superseding(
  { annotationId: supersededBy, createdAtMs }: AnnotationRecord,
  earlier: AnnotationRecord | undefined,
): AnnotationStep[] {
  if (earlier === undefined) return [];
  if (earlier.state !== "live") throw new Error(`${earlier.annotationId} is ${earlier.state} and cannot be superseded`);
  const after: AnnotationRecord = { ...earlier, state: "superseded", supersededBy, supersededAtMs: createdAtMs };
  return [{ before: earlier, after, changes: ["superseded"], needsRun: true }];
}

function imported(write: Extract<AnnotationWrite, { type: "import" }>): AnnotationStep {
  const { annotation: after, earlier: before, onRun = false } = write;
  if (before === undefined) return { after, changes: ["recorded"], needsRun: onRun };
  const changes: AnnotationChangeKind[] = [];
  if (after.state !== before.state && after.state !== "live") changes.push(after.state);
  if (after.flag?.status === "closed" && before.flag?.status !== "closed") changes.push("closed");
  return { before, after, changes, needsRun: onRun };
}
