import type { RunsTable } from "../schema/tables.ts";
import { writeDocumentRows } from "./apply-documents.ts";
import { writeReviewRows } from "./apply-reviews.ts";
import type { Accepted } from "./apply-unit.ts";
import { deleteRuns } from "./delete-runs.ts";
import { sorted } from "./row-order.ts";
import { type RunCounting, writeActiveRuns, writeFamilies } from "./run-counts.ts";
import type { Standing } from "./standing.ts";
import type { StandingRows, StandingRun } from "./standing-rows.ts";
import { insertInto, type Statement, update } from "./statements.ts";
import { writeAnnotationRows } from "./write-annotation-rows.ts";
import { insertExternalEvents, updateExternalEvents, writeGateRows } from "./write-gate-rows.ts";
import { writeQueueRows } from "./write-queue-rows.ts";
import { writeSideRows } from "./write-side-rows.ts";
import { writeTapeRows } from "./write-tape-rows.ts";

/**
 * The statements that make a batch true, in the order in which rows are locked everywhere. A plain insert that finds
 * its key taken was overtaken by another process: it fails the transaction, and the batch looks again.
 */
export function writeRows(standing: StandingRows, accepted: Accepted, counting: RunCounting): Statement[] {
  const heads = changedOf(standing.heads, (head, tenant) => ({ tenant, ...head }));
  const runs = changedOf(standing.runs, runRow);
  const effects = changedOf(standing.effects, (row) => row);
  const records = changedOf(standing.idempotency, (row) => row);
  const external = changedOf(standing.externalEvents, (row) => row);
  return [
    ...writeActiveRuns(standing, counting),
    ...updateHeads(heads.stored),
    ...insertHeads(sorted(heads.fresh, (row) => [row.tenant])),
    // Updates first: a run that ends makes room in its dedup scope for one that begins.
    ...updateRuns(runs.stored),
    ...insertRuns(sorted(runs.fresh, (row) => [row.dedup_scope ?? "", row.tenant, row.workflow_id, row.run_id])),
    ...writeFamilies(standing),
    ...updateEffects(effects.stored),
    ...insertEffects(sorted(effects.fresh, (row) => [row.effect_id])),
    ...updateRecords(records.stored),
    ...insertRecords(sorted(records.fresh, (row) => [row.tenant, row.operation, row.idem_key])),
    ...updateExternalEvents(external.stored),
    ...insertExternalEvents(
      sorted(external.fresh, (row) => [row.tenant, row.workspace, row.correlation_id, row.event_id]),
    ),
    ...writeAnnotationRows(standing, accepted),
    ...writeQueueRows(standing),
    ...writeTapeRows(standing),
    ...writeReviewRows(standing, accepted.units),
    ...writeDocumentRows(standing, accepted.units),
    ...insertEvents(accepted.units.flatMap((unit) => unit.runs.flatMap((run) => run.events))),
    ...insertAudit(accepted.audit),
    ...writeGateRows(accepted.units),
    ...writeSideRows(accepted.units.map(({ unit }) => unit)),
    ...deleteRuns(accepted.units.map(({ unit }) => unit)),
  ];
}

const HEAD = { tenant: "text", seq: "bigint", hash: "text" } as const;
const updateHeads = update("audit_heads", HEAD, ["tenant"]);
const insertHeads = insertInto("audit_heads", HEAD);

const CHANGING_IN_A_RUN = {
  run_id: "text",
  status: "text",
  version: "integer",
  engine_version: "integer",
  state: "text",
  updated_at: "bigint",
  dedup_scope: "text",
  wake_at: "bigint",
  agent_id: "text",
  intervened: "integer",
  lease_owner: "text",
  lease_until: "bigint",
} as const;
const updateRuns = update("runs", CHANGING_IN_A_RUN, ["run_id"]);
const insertRuns = insertInto("runs", {
  ...CHANGING_IN_A_RUN,
  tenant: "text",
  workspace: "text",
  workflow_id: "text",
  workflow_hash: "text",
  created_at: "bigint",
  root_run_id: "text",
} as const);

const updateEffects = update(
  "effects",
  { effect_id: "text", state: "text", outcome: "text", finished_at: "bigint" } as const,
  ["effect_id"],
);
const insertEffects = insertInto("effects", {
  effect_id: "text",
  tenant: "text",
  run_id: "text",
  node_id: "text",
  ordinal: "integer",
  provider_key: "text",
  state: "text",
  claimed_by: "text",
  claimed_at: "bigint",
  outcome: "text",
  finished_at: "bigint",
  expires_at: "bigint",
} as const);

const RECORD = {
  tenant: "text",
  operation: "text",
  idem_key: "text",
  digest: "text",
  state: "text",
  status: "integer",
  headers: "text",
  body: "text",
  lease_owner: "text",
  lease_until: "bigint",
  expires_at: "bigint",
} as const;
const updateRecords = update("idempotency", RECORD, ["tenant", "operation", "idem_key"]);
const insertRecords = insertInto("idempotency", RECORD);

const insertEvents = insertInto("run_events", {
  run_id: "text",
  sequence: "integer",
  type: "text",
  body: "text",
  sealed: "text",
} as const);

const insertAudit = insertInto("audit_log", {
  tenant: "text",
  seq: "bigint",
  occurred_at: "text",
  actor: "text",
  action: "text",
  target: "text",
  details: "text",
  prev_hash: "text",
} as const);

function changedOf<R, T>(rows: ReadonlyMap<string, Standing<R>>, toRow: (row: R, key: string) => T) {
  const changed = { stored: [] as T[], fresh: [] as T[] };
  for (const [key, standing] of rows) {
    if (standing.changed) (standing.stored ? changed.stored : changed.fresh).push(toRow(standing.row, key));
  }
  return changed;
}

function runRow({ columns, dedup_scope, lease_owner, lease_until }: StandingRun): RunsTable {
  if (columns === undefined) throw new Error("a run without columns was not written by a unit");
  return { ...columns, dedup_scope, lease_owner, lease_until };
}
