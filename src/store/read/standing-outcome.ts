import type { IdempotencyTable } from "../schema/tables.ts";

type Standing = Pick<IdempotencyTable, "state" | "lease_owner" | "lease_until" | "expires_at">;

/** Whether an outcome may replace the record that stands: one that no longer counts, or the pending claim it completes. */
export function givesWay(row: Standing, outcome: { readonly nowMs: number; readonly leaseOwner?: string }): boolean {
  const { nowMs, leaseOwner } = outcome;
  if (row.expires_at <= nowMs || row.state === "retryable-failure") return true;
  if (row.state !== "pending") return false;
  return row.lease_until === null || row.lease_until <= nowMs || row.lease_owner === leaseOwner;
}
