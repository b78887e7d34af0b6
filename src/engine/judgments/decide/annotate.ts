import { type AppError, validationError } from "../../../protocol/errors.ts";
import type { PrincipalKind } from "../../../protocol/identity/identity.ts";
import { type ActorKind, missingField, type Signal } from "../../../protocol/judgments/annotation.ts";
import type { AnnotateRequest } from "../../../protocol/judgments/annotation-api.ts";

/** The event that a judgment is about. */
export interface TargetEvent {
  readonly eventId: string;
  readonly nodeId?: string;
}

/** Checks a judgment against its run. Its form was checked before. */
export function checkAnnotation(
  { signal, target = {}, confidence }: AnnotateRequest,
  by: PrincipalKind,
  known: { readonly event: TargetEvent | undefined; hasNode(nodeId: string): boolean },
): void {
  const missing = missingField(signal);
  if (missing !== undefined) throw invalid(`signal.${missing}`, `a ${signal.kind} needs signal.${missing}`);
  const { eventId, nodeId } = target;
  if (eventId !== undefined && known.event === undefined) {
    throw invalid("target.eventId", "target.eventId is no event of this run");
  }
  if (nodeId !== undefined && !known.hasNode(nodeId)) {
    throw invalid("target.nodeId", "target.nodeId is no node of this run's workflow");
  }
  if (known.event !== undefined && nodeId !== undefined && known.event.nodeId !== nodeId) {
    throw invalid("target.nodeId", "target.nodeId is not the node of target.eventId");
  }
  if (confidence !== undefined && by !== "agent") {
    throw invalid("confidence", "only an agent's judgment carries a confidence");
  }
}

function invalid(field: string, problem: string): AppError {
  return validationError(problem, { field });
}

export function actorKindOf(kind: PrincipalKind): ActorKind {
  return kind === "user" ? "person" : kind;
}

/** A signal with its texts scrubbed. */
export function scrubSignal(signal: Signal, scrub: (text: string) => string): Signal {
  const { label, correction } = signal;
  return {
    ...signal,
    ...(label === undefined ? {} : { label: scrub(label) }),
    ...(correction === undefined ? {} : { correction: scrub(correction) }),
  };
}
