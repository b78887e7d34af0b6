import type { Run } from "../../protocol/runs/run.ts";
import type { AttemptOutcome } from "../port/gates.ts";
import type { Claim } from "../port/store.ts";
import { finishedColumns, toRun, WEBHOOK_DISABLED } from "../rows/rows.ts";
import { prepared } from "./statements.ts";
import type { Queries } from "./tenant-pool.ts";

// Rows that another claim or a commit is just changing are passed over, not waited for. The order of the rows that
// an update returns is its own, so the due time comes along.
export const CLAIM = `with due as materialized (
    select run_id from runs
    where wake_at <= $1 and (lease_until is null or lease_until <= $1) and engine_version <= $2
      and octet_length(state) > $6 and octet_length(state) <= $7
    order by wake_at limit $3 for update skip locked
  )
  update runs set lease_owner = $4, lease_until = $5 from due where runs.run_id = due.run_id
  returning runs.wake_at, runs.state`;

// `any` and the order by tenant leave one index to the planner, that of due runs by tenant. With `tenant = given.tenant` it takes the
// index of all due runs when most are of one tenant, and reads all of those to find the runs of another.
export const CLAIM_AMONG = `with due as materialized (
    select found.run_id from unnest($8::text[]) as given(tenant) cross join lateral (
      select run_id from runs
      where runs.tenant = any(array[given.tenant]) and wake_at <= $1
        and (lease_until is null or lease_until <= $1)
        and engine_version <= $2 and octet_length(state) > $6 and octet_length(state) <= $7
      order by runs.tenant, wake_at limit $3 for update skip locked
    ) as found
  )
  update runs set lease_owner = $4, lease_until = $5 from due where runs.run_id = due.run_id
  returning runs.wake_at, runs.state`;

/** No value of PostgreSQL is larger. */
const MAX_TEXT_BYTES = 2 ** 30;

export async function claimRuns(pool: Queries, claim: Claim): Promise<Run[]> {
  const { owner, nowMs, untilMs, limit, engineVersion, among, stateBytes = {} } = claim;
  const { above = 0, upTo = MAX_TEXT_BYTES } = stateBytes;
  const values = [nowMs, engineVersion, among?.share ?? limit, owner, untilMs, above, upTo];
  const { rows } = await pool.query<{ wake_at: number; state: string }>(
    among === undefined ? CLAIM : CLAIM_AMONG,
    among === undefined ? values : [...values, [...among.tenants]],
  );
  return rows.sort((a, b) => a.wake_at - b.wake_at).map(toRun);
}

// Locked by id, as commits do, so that the two never wait for each other.
const RENEW = `with held as materialized (
    select run_id from runs where run_id = any($1) and lease_owner = $2 order by run_id for update
  )
  update runs set lease_until = $3 from held where runs.run_id = held.run_id returning runs.run_id`;

export async function renewLeases(
  pool: Queries,
  owner: string,
  runIds: readonly string[],
  untilMs: number,
): Promise<string[]> {
  if (runIds.length === 0) return [];
  const { rows } = await pool.query<{ run_id: string }>(RENEW, [runIds, owner, untilMs]);
  return rows.map((row) => row.run_id);
}

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
