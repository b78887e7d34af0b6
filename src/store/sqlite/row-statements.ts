import type { CountChanges } from "../port/creation-limits.ts";
import { auditHeads, auditLog } from "../schema/audit.ts";
import { documents } from "../schema/documents.ts";
import { externalEvents, interrupts, interruptVotes } from "../schema/gates.ts";
import { idempotency } from "../schema/host.ts";
import { apiKeys, roleBindings, roleDefinitions } from "../schema/identity.ts";
import { annotationChanges, annotations, annotationTexts, runFeedback, runLabels } from "../schema/judgments.ts";
import { queueItems, queueReviews, queues } from "../schema/queues.ts";
import { reviewRounds, reviewSessions } from "../schema/reviews.ts";
import { artifacts, effects, runEvents, runs, runTombstones } from "../schema/runs.ts";
import { adding, type Columns, type RowOf, replacing, type Table } from "../schema/table.ts";
import { tapeSidecars, tapes } from "../schema/tapes.ts";
import { deliveries, webhooks } from "../schema/webhooks.ts";
import { workflowHeads, workflows } from "../schema/workflows.ts";
import type { SqliteValue } from "./open-database.ts";
import type { FlatUnit } from "./operations.ts";
import type { Statements } from "./statements.ts";

/** A statement that binds columns of a row, in this order. */
interface RowStatement<R> {
  readonly text: string;
  readonly columns: readonly string[];
  readonly row?: R;
}

/** `rest` follows the values: what happens to a row that is there. */
function insertInto<N extends string, C extends Columns>(table: Table<N, C>, rest = ""): RowStatement<RowOf<C>> {
  // Node 22 binds an empty array as NULL.
  const values = table.names.map((column) => (table.columns[column]?.type === "blob" ? "coalesce(?, x'')" : "?"));
  return { text: `insert into ${table.name} (${table.names}) values (${values}) ${rest}`, columns: table.names };
}

/** Only a row for which `where` holds, which calls it `given`. */
function insertWhere<N extends string, C extends Columns>(
  table: Table<N, C>,
  where: string,
  rest: string,
): RowStatement<RowOf<C>> {
  const given = table.names.map((column) => `? as ${column}`);
  const text = `insert into ${table.name} (${table.names}) select * from (select ${given}) as given where ${where} ${rest}`;
  return { text, columns: table.names };
}

function update<N extends string, C extends Columns, K extends keyof C & string>(
  table: Table<N, C>,
  columns: readonly K[],
): RowStatement<Pick<RowOf<C>, K>> {
  const sets = columns.map((column) => `${column} = ?`);
  const where = table.key.map((column) => `${column} = ?`).join(" and ");
  return { text: `update ${table.name} set ${sets} where ${where}`, columns: [...columns, ...table.key] };
}

const STAYS = "do nothing";
const RUN_COLUMNS = runs.changing.filter((column) => !["dedup_scope", "lease_owner", "lease_until"].includes(column));

/** The statements that write rows of the tables as they are described. */
export const ROW_STATEMENTS = {
  insertRun: insertInto(runs),
  updateRun: update(runs, RUN_COLUMNS),
  // In one statement, because SQLite writes the whole row again for each.
  updateRunAndLease: update(runs, [...RUN_COLUMNS, "lease_owner", "lease_until"]),
  insertEvent: insertInto(runEvents),
  insertEffect: insertInto(effects),
  putIdempotency: insertInto(idempotency, replacing(idempotency)),
  insertWorkflow: insertInto(workflows, `on conflict (hash) ${STAYS}`),
  putWorkflowHead: insertInto(workflowHeads, replacing(workflowHeads)),
  putArtifact: insertInto(artifacts, replacing(artifacts, { where: "artifacts.tenant = excluded.tenant" })),
  putKey: insertInto(apiKeys, replacing(apiKeys, { by: ["hash"] })),
  putRoles: insertInto(roleBindings, replacing(roleBindings, { columns: ["roles"] })),
  putGroups: insertInto(roleBindings, replacing(roleBindings, { columns: ["group_names"] })),
  putRoleDefinition: insertInto(roleDefinitions, replacing(roleDefinitions)),
  insertAudit: insertInto(auditLog),
  putAuditHead: insertInto(auditHeads, replacing(auditHeads)),

  putInterrupt: insertInto(interrupts, replacing(interrupts, { where: "interrupts.run_id = excluded.run_id" })),
  insertVote: insertInto(interruptVotes),
  putExternalEvent: insertInto(externalEvents, replacing(externalEvents)),
  putWebhook: insertInto(webhooks, replacing(webhooks, { where: "webhooks.tenant = excluded.tenant" })),
  // Only for a webhook that is there and the tenant's own.
  insertDelivery: insertWhere(
    deliveries,
    `webhook_id = '' or exists (
      select 1 from webhooks where webhooks.webhook_id = given.webhook_id and webhooks.tenant = given.tenant)`,
    `on conflict (webhook_id, run_id, sequence) ${STAYS}`,
  ),

  insertAnnotation: insertInto(annotations),
  changeAnnotation: update(annotations, annotations.changing),
  insertAnnotationText: insertInto(annotationTexts),
  insertAnnotationChange: insertInto(
    annotationChanges,
    replacing(annotationChanges, { by: ["tenant", "annotation_id", "change"], columns: ["seq", "n"] }),
  ),
  addFeedback: insertInto(runFeedback, adding(runFeedback)),
  addLabel: insertInto(runLabels, adding(runLabels)),

  putQueue: insertInto(queues, replacing(queues)),
  putItem: insertInto(queueItems, replacing(queueItems)),
  // Passed over where the queue has the subject, and where the run was deleted since it was found.
  fillItem: insertWhere(
    queueItems,
    "exists (select 1 from runs where runs.run_id = given.run_id and runs.tenant = given.tenant)",
    `on conflict (queue_id, subject) ${STAYS}`,
  ),
  insertReview: insertInto(queueReviews),

  insertTape: insertInto(tapes),
  putSidecar: insertInto(tapeSidecars, replacing(tapeSidecars)),
  putReview: insertInto(reviewSessions, replacing(reviewSessions)),
  insertRound: insertInto(reviewRounds),
  putDocument: insertInto(documents, replacing(documents)),
  keepDocument: insertInto(documents, `on conflict (${documents.key}) ${STAYS}`),
  insertTombstone: insertInto(runTombstones, `on conflict (run_id) ${STAYS}`),
} as const;

type RowStatements = typeof ROW_STATEMENTS;
export type RowStatementName = keyof RowStatements;
export type RowFor<N extends RowStatementName> = RowStatements[N] extends RowStatement<infer R> ? R : never;

/** The values that a statement binds of a row. */
export function valuesOf<N extends RowStatementName>(name: N, row: RowFor<N>): SqliteValue[] {
  const values: SqliteValue[] = [];
  for (const column of ROW_STATEMENTS[name].columns) values.push((row as Record<string, SqliteValue>)[column] ?? null);
  return values;
}

/** Beyond this many tenants the counts are forgotten and read again as needed. */
const TENANTS_MAX = 10_000;

/**
 * The counts of runs that have not ended, by tenant. Only this connection changes them, so they are read once and then kept
 * in memory; each batch writes one row per tenant whose count it changed.
 */
export class RunCounts {
  readonly #statements: Statements;
  /** As committed. */
  readonly #active = new Map<string, number>();
  /** Changes of the batch under way. */
  #added = new Map<string, number>();

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** Counts an accepted unit. */
  apply({ checks: { tenant }, cancelledFamilies }: FlatUnit, { active, descendants }: CountChanges): void {
    if (active !== 0) this.#added.set(tenant, (this.#added.get(tenant) ?? 0) + active);
    for (const [rootRunId, added] of descendants) this.#statements.addDescendants.run(rootRunId, tenant, added);
    for (const { rootRunId, atMs } of cancelledFamilies) this.#statements.cancelFamily.run(rootRunId, tenant, atMs);
  }

  /** The last writes before the commit. */
  write(): void {
    for (const [tenant, added] of this.#added) if (added !== 0) this.#statements.addActiveRuns.run(tenant, added);
  }

  committed(): void {
    if (this.#active.size > TENANTS_MAX) this.#active.clear();
    for (const [tenant, added] of this.#added) {
      const before = this.#active.get(tenant);
      if (before !== undefined) this.#active.set(tenant, before + added);
    }
    this.#added = new Map();
  }

  undone(): void {
    this.#active.clear();
    this.#added = new Map();
  }

  activeRuns(tenant: string): number {
    let active = this.#active.get(tenant);
    if (active === undefined) {
      active = Number((this.#statements.activeRuns.get(tenant) as { active: number | null }).active ?? 0);
      this.#active.set(tenant, active);
    }
    return active + (this.#added.get(tenant) ?? 0);
  }
}
