/** One file has one process, so all counts of a tenant are in shard 0; a restored backup may have more. */
export const RUN_COUNT_WRITES = {
  addActiveRuns: `insert into tenant_runs (tenant, shard, active) values (?, 0, ?)
    on conflict (tenant, shard) do update set active = active + excluded.active`,
  addDescendants: `insert into run_families (root_run_id, tenant, descendants) values (?, ?, ?)
    on conflict (root_run_id) do update set descendants = descendants + excluded.descendants`,
  cancelFamily: `insert into run_families (root_run_id, tenant, descendants, cancelled_at) values (?, ?, 0, ?)
    on conflict (root_run_id) do update set cancelled_at = coalesce(cancelled_at, excluded.cancelled_at)
    where tenant = excluded.tenant`,
} as const;

export const RUN_COUNT_READS = {
  activeRuns: "select sum(active) as active from tenant_runs where tenant = ?",
  family: "select descendants, cancelled_at from run_families where root_run_id = ?",
} as const;
