import type { RunEvent } from "../events.ts";
import type { OrchestratorDecision } from "../runs/orchestrator.ts";

/** The supervisor of a run and its last decision. */
export interface Orchestrator {
  /** Of the first decision, and the same ever after. */
  readonly agentId: string;
  /** How many decisions there were. */
  readonly turns: number;
  readonly decision: OrchestratorDecision;
  /** The event of that decision; absent in runs that were stored before it was kept. */
  readonly eventId?: string;
}

export function evolveOrchestrator(
  before: Orchestrator | undefined,
  event: Extract<RunEvent, { type: "runOrchestrator.decided" }>,
): Orchestrator {
  const { agentId, decision } = event.sealed ?? event.payload;
  return { agentId: before?.agentId ?? agentId, turns: (before?.turns ?? 0) + 1, decision, eventId: event.eventId };
}
