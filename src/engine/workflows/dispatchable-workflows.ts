import { workersOf } from "../../protocol/runs/orchestrator.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { NodeOutcome } from "../worker/node-type.ts";

/**
 * The workflows that a turn may dispatch for a supervisor: those that it decided on last, or does in this very turn. A
 * turn waits for nothing, so whatever it needs to know of them is read before it.
 */
export function dispatchableWorkflows({ orchestrator }: Run, deciding: readonly NodeOutcome[]): string[] {
  const last = orchestrator === undefined ? [] : [orchestrator.decision];
  const made = deciding.flatMap((outcome) => (outcome.type === "completed" ? (outcome.events ?? []) : []));
  const now = made.flatMap((event) => (event.type === "runOrchestrator.decided" ? [event.payload.decision] : []));
  return [...last, ...now].flatMap(workersOf);
}
