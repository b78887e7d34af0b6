import type { TurnOutcome } from "../../formats/reviews/outcome.ts";
import { responseOnWire } from "../../formats/reviews/write-response.ts";
import type { Attempt } from "../../reviews/requester/take-turn.ts";

/** What came of a turn, for scripts: every key is always there, null where there is nothing to say. */
export function turnJson(attempt: Attempt, warnings: readonly string[] = []): object {
  const { outcome, sessionID, ids, errorCode, toolError, problems, response, exitCode } = attempt;
  return {
    outcome,
    sessionID: sessionID ?? null,
    ids,
    error_code: errorCode ?? null,
    tool_error: toolErrorJson(toolError),
    problems,
    warnings: [...new Set([...attempt.warnings, ...warnings])].sort(),
    response: response === undefined ? null : responseOnWire(response),
    exit_code: exitCode,
    attempts: attempt.attempt,
  };
}

function toolErrorJson(error: TurnOutcome["toolError"]): object | null {
  if (error === undefined) return null;
  const { name = null, message = null, isRetryable = null } = error;
  return { name, message, isRetryable };
}
