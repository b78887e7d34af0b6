import { AppError } from "../protocol/errors.ts";
import type { Run } from "../protocol/run.ts";

/**
 * A decision of an earlier round of a loop, at a node that this round may pass by or dispatches another run from, cannot
 * be asked for again from the fork point: the branch has to begin before that decision.
 */
export function earlierRound({ forkedFrom }: Run, nodeId: string): AppError {
  const problem = `a gate of node ${nodeId} was decided in an earlier round of its loop, and the branch could go on without asking again; branch from before that decision`;
  return new AppError("fork_point_invalid", { problem, sourceRunId: forkedFrom?.runId, nodeId });
}

export function ledPast({ forkedFrom }: Run, nodeId: string): AppError {
  const problem = `whether a gate of node ${nodeId} asks may depend on a result that is kept and was made without what the branch changes; branch from before the first node that reads it`;
  return new AppError("fork_point_invalid", { problem, sourceRunId: forkedFrom?.runId, nodeId });
}

export function ledPastByVariables({ forkedFrom }: Run, nodeId: string): AppError {
  const problem = `whether a gate of node ${nodeId} asks may depend on a variable that was written after the point to which the branch goes back to ask again; branch from before that gate`;
  return new AppError("fork_point_invalid", { problem, sourceRunId: forkedFrom?.runId, nodeId });
}
