import type { RunStatus } from "../../protocol/runs/run-status.ts";
import { bigint, blob, flag, int, jsonText, type Row, table, text, time } from "./table.ts";

/** Derived from run_events in the append's transaction; also the work queue (wake_at, lease_*). */
export const runs = table(
  "runs",
  {
    run_id: text(),
    tenant: text(),
    workspace: text().orNull,
    workflow_id: text(),
    workflow_hash: text(),
    status: text<RunStatus>(),
    version: int(),
    engine_version: int(),
    /** The folded Run. */
    state: jsonText(),
    created_at: time(),
    /** When it ended, once it has. */
    updated_at: time(),
    /** Set while the run has not ended and X-Dedup was enforced; unique per (tenant, workflow_id). */
    dedup_scope: text().orNull,
    wake_at: time().orNull,
    lease_owner: text().orNull,
    lease_until: time().orNull,
    /** See `run-rows.ts`. */
    agent_id: text().orNull,
    intervened: flag().byDefault("0"),
    /** The run at the top of the family; null for a run without a parent. */
    root_run_id: text().orNull,
  },
  {
    key: ["run_id"],
    changing: [
      "status",
      "version",
      "engine_version",
      "state",
      "updated_at",
      "agent_id",
      "intervened",
      "wake_at",
      "dedup_scope",
      "lease_owner",
      "lease_until",
    ],
  },
);
export type RunsTable = Row<typeof runs>;

/** The log. Updates are refused by a trigger. */
export const runEvents = table(
  "run_events",
  {
    run_id: text(),
    sequence: int(),
    type: text(),
    body: jsonText(),
    sealed: jsonText().orNull,
  },
  { key: ["run_id", "sequence"] },
);
export type RunEventsTable = Row<typeof runEvents>;

/**
 * Runs of a tenant that have not ended, kept in the transaction of every run write. The count is the sum over `shard`, because
 * processes that share a PostgreSQL would otherwise wait for each other at one row.
 */
export const tenantRuns = table(
  "tenant_runs",
  { tenant: text(), shard: int(), active: bigint() },
  { key: ["tenant", "shard"] },
);

/** How many runs were started below a root run, kept in the transaction that starts them. */
export const runFamilies = table(
  "run_families",
  {
    root_run_id: text(),
    tenant: text(),
    descendants: bigint(),
    /** Set when the family was cancelled: no run is started below the root any more. */
    cancelled_at: time().orNull,
  },
  { key: ["root_run_id"] },
);
export type RunFamiliesTable = Row<typeof runFamilies>;

/** Tombstones of deleted runs, without any of their content. */
export const runTombstones = table(
  "run_tombstones",
  {
    run_id: text(),
    tenant: text(),
    workspace: text().orNull,
    workflow_id: text(),
    version: int(),
    reason: text<"deleted" | "expired">(),
    at: time(),
  },
  { key: ["run_id"] },
);

export const effects = table(
  "effects",
  {
    effect_id: text(),
    tenant: text(),
    run_id: text(),
    node_id: text(),
    ordinal: int(),
    provider_key: text(),
    state: text<"claimed" | "succeeded" | "failed">(),
    claimed_by: text(),
    claimed_at: time().as("atMs"),
    outcome: jsonText().orNull,
    finished_at: time().orNull.hidden,
    expires_at: time(),
  },
  { key: ["effect_id"], changing: ["state", "outcome", "finished_at"] },
);
export type EffectsTable = Row<typeof effects>;

export const artifacts = table(
  "artifacts",
  {
    run_id: text(),
    artifact_id: text(),
    tenant: text(),
    artifact_type: text(),
    content_type: text(),
    body: blob(),
    created_at: time().as("atMs"),
  },
  { key: ["run_id", "artifact_id"], changing: ["artifact_type", "content_type", "body", "created_at"] },
);
