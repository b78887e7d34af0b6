import type { AttemptOutcome } from "../port/gates.ts";
import { finishedColumns, WEBHOOK_DISABLED } from "../rows/attempt-rows.ts";
import { prepared } from "./prepared.ts";
import type { Queries } from "./tenant-pool.ts";

// The delivery, then its webhook, then the deliveries that waited for it: those that others hold are passed over, so
// that two hosts which disable the same webhook do not wait for each other.
const FINISH = `with finished as (
    update deliveries set state = $3, attempts = $4, next_at = $5, last_status = $6, last_error = $7, finished_at = $8,
      lease_owner = null, lease_until = null
    where delivery_id = $1 and lease_owner = $2 returning delivery_id
  ), health as (
    update webhooks set failures = $10, failing_since = $11, circuit_until = $12,
      disabled_at = coalesce($13, disabled_at)
    where webhook_id = $9 and exists (select 1 from finished) returning webhook_id
  ), buried as (
    update deliveries set state = 'dead', next_at = null, finished_at = $14, last_error = $15
    where $13::bigint is not null and exists (select 1 from finished) and delivery_id in (
      select delivery_id from deliveries
      where webhook_id = $9 and state = 'pending' and lease_owner is null and delivery_id <> $1
      order by delivery_id for update skip locked)
  )
  select 1 from finished`;

/** One statement, so that the delivery and its webhook change together or not at all. */
export async function finishAttempt(pool: Queries, attempt: AttemptOutcome): Promise<boolean> {
  const { deliveryId, owner, webhook, atMs } = attempt;
  const { state, attempts, next_at, last_status, last_error, finished_at } = finishedColumns(attempt);
  const { rowCount } = await pool.query({
    ...prepared("finish attempt", FINISH),
    values: [
      deliveryId,
      owner,
      state,
      attempts,
      next_at,
      last_status,
      last_error,
      finished_at,
      webhook?.webhookId ?? null,
      webhook?.failures ?? null,
      webhook?.failingSinceMs ?? null,
      webhook?.circuitUntilMs ?? null,
      webhook?.disabledAtMs ?? null,
      atMs,
      WEBHOOK_DISABLED,
    ],
  });
  return rowCount === 1;
}
