import type { AttemptOutcome } from "../port/gates.ts";
import type { DeliveriesTable } from "../schema/webhooks.ts";

type Finished = Pick<DeliveriesTable, "state" | "attempts" | "next_at" | "last_status" | "last_error" | "finished_at">;

/** A delivery after an attempt: a retry has a due time, any other an end. */
export function finishedColumns(attempt: AttemptOutcome): Finished {
  const { state, attempts, nextAtMs, lastStatus, lastError, atMs } = attempt;
  const again = state === "pending";
  return {
    state,
    attempts,
    next_at: again ? (nextAtMs ?? atMs) : null,
    last_status: lastStatus ?? null,
    last_error: lastError ?? null,
    finished_at: again ? null : atMs,
  };
}

/** Why the deliveries that waited for a webhook are dead. */
export const WEBHOOK_DISABLED = "the webhook was disabled";
