import type { DocumentId } from "../port/documents.ts";
import type { ExternalEventKey } from "../port/gates.ts";
import type { IdempotencyKey } from "../port/store.ts";
import { auditHeads } from "../schema/audit.ts";
import { type DocumentsTable, documents } from "../schema/documents.ts";
import { type ExternalEventsTable, externalEvents } from "../schema/gates.ts";
import { type IdempotencyTable, idempotency } from "../schema/host.ts";
import { type AnnotationsTable, annotations } from "../schema/judgments.ts";
import {
  type QueueItemsTable,
  type QueueReviewsTable,
  type QueuesTable,
  queueItems,
  queues,
} from "../schema/queues.ts";
import { type ReviewSessionsTable, reviewSessions } from "../schema/reviews.ts";
import {
  type EffectsTable,
  effects,
  type RunFamiliesTable,
  type RunsTable,
  runFamilies,
  runs,
} from "../schema/runs.ts";
import type { AnyTable, Columns, Row, RowOf, Table } from "../schema/table.ts";
import { type TapeSidecarsTable, type TapesTable, tapeSidecars, tapes } from "../schema/tapes.ts";
import type { CurrentItem, CurrentQueue, CurrentReview, CurrentRows, CurrentRun } from "../units/current-rows.ts";
import type { LockName } from "./lock-rows.ts";
import { insertInto, type SetStatement, type Statement, sorted, update } from "./statements.ts";

const WRITES = {
  heads: writesOf(auditHeads),
  runs: writesOf(runs),
  families: writesOf(runFamilies),
  effects: writesOf(effects),
  outcomes: writesOf(idempotency),
  externalEvents: writesOf(externalEvents),
  annotations: writesOf(annotations),
  queues: writesOf(queues),
  items: writesOf(queueItems),
  tapes: writesOf(tapes),
  sidecars: writesOf(tapeSidecars),
  reviews: writesOf(reviewSessions),
  documents: writesOf(documents),
} as const;

type Found<R, K extends keyof R> = Pick<R, K>;
type FoundTape = Found<TapesTable, "run_id" | "tenant" | "workspace" | "digest">;

/** The rows that a lock or a question found, by its name. */
// biome-ignore lint/suspicious/noExplicitAny: a row is what the statement of that name selects.
export type RowsOf = (name: LockName) => any[];

/**
 * The rows that the units of a batch depend on: locked as they are in the database, then changed in memory by each unit that is accepted,
 * so that the next unit is checked against what the ones before it did.
 */
export class LockedRows implements CurrentRows {
  /** Where the chains end, by tenant; a chain that is empty has no head. */
  readonly heads: RowSet<Row<typeof auditHeads>>;
  readonly runs: RowSet<RunsTable, CurrentRun & Found<RunsTable, "run_id" | "workflow_id">>;
  readonly families: RowSet<RunFamiliesTable>;
  readonly effects: RowSet<EffectsTable>;
  readonly outcomes: RowSet<IdempotencyTable>;
  readonly externalEvents: RowSet<ExternalEventsTable>;
  readonly annotations: RowSet<
    AnnotationsTable,
    Found<AnnotationsTable, "tenant" | "annotation_id" | "state" | "flag_status">
  >;
  readonly queues: RowSet<QueuesTable, CurrentQueue>;
  readonly items: RowSet<QueueItemsTable, CurrentItem>;
  /** By digest: a tape is written once, with its run. */
  readonly tapes: RowSet<TapesTable, FoundTape>;
  readonly sidecars: RowSet<TapeSidecarsTable, Found<TapeSidecarsTable, "run_id" | "revision">>;
  readonly reviews: RowSet<ReviewSessionsTable, CurrentReview & Found<ReviewSessionsTable, "session_id">>;
  readonly documents: RowSet<DocumentsTable, Found<DocumentsTable, "tenant" | "kind" | "doc_key" | "revision">>;

  /** Reviews of the items that were written. */
  readonly itemReviews = new Map<string, QueueReviewsTable[]>();
  /** The change of the number of active runs by the accepted units, by tenant. */
  readonly activeChanges = new Map<string, number>();

  readonly #active: Map<string, string>;
  readonly #names: Map<string, string>;
  readonly #subjects: Map<string, { readonly item_id: string; readonly revision: number }>;
  readonly #judged: ReadonlySet<string>;
  readonly #activeRuns: (tenant: string) => number;

  /** @param activeRuns as read in this batch, or a moment ago where the limit is far away */
  constructor(rowsOf: RowsOf, activeRuns: (tenant: string) => number) {
    this.heads = new RowSet(WRITES.heads, rowsOf("heads"));
    this.runs = new RowSet(WRITES.runs, rowsOf("runs"));
    this.families = new RowSet(WRITES.families, rowsOf("families"));
    this.effects = new RowSet(WRITES.effects, rowsOf("effects"));
    this.outcomes = new RowSet(WRITES.outcomes, rowsOf("outcomes"));
    this.externalEvents = new RowSet(WRITES.externalEvents, rowsOf("externalEvents"));
    this.annotations = new RowSet(WRITES.annotations, rowsOf("annotations"));
    this.queues = new RowSet(WRITES.queues, rowsOf("queues"));
    this.items = new RowSet(WRITES.items, rowsOf("items"));
    this.tapes = new RowSet<TapesTable, FoundTape>(WRITES.tapes, rowsOf("tapes"), digestKey);
    this.sidecars = new RowSet(WRITES.sidecars, rowsOf("sidecars"));
    this.reviews = new RowSet(WRITES.reviews, rowsOf("reviews"));
    this.documents = new RowSet(WRITES.documents, rowsOf("documents"));
    for (const { queue_id, tenant, revision } of rowsOf("names")) this.queues.found({ queue_id, tenant, revision });
    this.#active = new Map(
      rowsOf("active").map((row) => [keyOf(row.tenant, row.workflow_id, row.dedup_scope), row.run_id]),
    );
    this.#names = new Map(
      rowsOf("names").map(({ tenant, workspace, name, queue_id }) => [keyOf(tenant, workspace, name), queue_id]),
    );
    this.#subjects = new Map(rowsOf("subjects").map((row) => [keyOf(row.queue_id, row.subject), row]));
    this.#judged = new Set(rowsOf("judged").map(({ run_id }) => run_id));
    this.#activeRuns = activeRuns;
  }

  run(runId: string): CurrentRun | undefined {
    return this.runs.get(runId);
  }
  activeRun(tenant: string, workflowId: string, scope: string): string | undefined {
    return this.#active.get(keyOf(tenant, workflowId, scope));
  }
  activeRuns(tenant: string): number {
    return this.#activeRuns(tenant) + (this.activeChanges.get(tenant) ?? 0);
  }
  family(rootRunId: string): RunFamiliesTable | undefined {
    return this.families.get(rootRunId);
  }
  effect(effectId: string): EffectsTable | undefined {
    return this.effects.get(effectId);
  }
  outcome({ tenant, operation, key }: IdempotencyKey): IdempotencyTable | undefined {
    return this.outcomes.get(tenant, operation, key);
  }
  externalEvent({ tenant, workspace, correlationId, eventId }: ExternalEventKey): ExternalEventsTable | undefined {
    return this.externalEvents.get(tenant, workspace, correlationId, eventId);
  }
  annotation(tenant: string, annotationId: string): Found<AnnotationsTable, "state" | "flag_status"> | undefined {
    return this.annotations.get(tenant, annotationId);
  }
  queue(queueId: string): CurrentQueue | undefined {
    return this.queues.get(queueId);
  }
  queueNamed(tenant: string, workspace: string | null, name: string): CurrentQueue | undefined {
    const queueId = this.#names.get(keyOf(tenant, workspace ?? "", name));
    return queueId === undefined ? undefined : this.queues.get(queueId);
  }
  item(itemId: string): CurrentItem | undefined {
    return this.items.get(itemId);
  }
  itemAbout(queueId: string, subject: string): Found<QueueItemsTable, "item_id" | "revision"> | undefined {
    const found = this.#subjects.get(keyOf(queueId, subject));
    return found && (this.items.get(found.item_id) ?? found);
  }
  tape(tenant: string, workspace: string | null, digest: string): string | undefined {
    return this.tapes.get(tenant, workspace ?? "", digest)?.run_id;
  }
  sidecarRevision(runId: string): number {
    return this.sidecars.get(runId)?.revision ?? 0;
  }
  review(sessionId: string): CurrentReview | undefined {
    return this.reviews.get(sessionId);
  }
  documentRevision({ tenant, kind, key }: DocumentId): number {
    return this.documents.get(tenant, kind, key)?.revision ?? 0;
  }
  judgedSince(_tenant: string, _seq: number, runId: string): boolean {
    return this.#judged.has(runId);
  }

  /** The run holds its dedup scope from here on, or until here. */
  moveScope({ run_id, tenant, workflow_id }: RunsTable, scope: string, ended: boolean): void {
    const key = keyOf(tenant, workflow_id, scope);
    if (ended) this.#active.delete(key);
    else this.#active.set(key, run_id);
  }

  putQueue(row: QueuesTable): void {
    for (const [name, queueId] of this.#names) if (queueId === row.queue_id) this.#names.delete(name);
    this.#names.set(keyOf(row.tenant, row.workspace ?? "", row.name), row.queue_id);
    this.queues.put(row);
  }

  putItem(row: QueueItemsTable, reviews: QueueReviewsTable[]): void {
    this.#subjects.set(keyOf(row.queue_id, row.subject), row);
    this.items.put(row);
    this.itemReviews.set(row.item_id, reviews);
  }
}

function keyOf(...key: readonly string[]): string {
  return JSON.stringify(key);
}

function digestKey({ tenant, workspace, digest }: FoundTape): string[] {
  return [tenant, workspace ?? "", digest];
}

/** The statements that write rows of a table as they are after a batch. */
export interface TableWrites<R> {
  readonly table: AnyTable;
  readonly update: SetStatement<R>;
  readonly insert: SetStatement<R>;
}

export function writesOf<N extends string, C extends Columns>(table: Table<N, C>): TableWrites<RowOf<C>> {
  return { table, update: update(table), insert: insertInto(table) };
}

interface Current<R, H> {
  readonly row: H;
  /** Whether the database has such a row already. */
  readonly stored: boolean;
  /** All of it, once a unit has written the row. */
  readonly written?: R;
}

/**
 * Rows of one table as they are after the units that were accepted: found in the database, of which only some columns are read, then
 * changed in memory.
 */
export class RowSet<R extends H, H = R> {
  readonly #writes: TableWrites<R>;
  readonly #keyOf: (row: H) => string;
  readonly #rows = new Map<string, Current<R, H>>();

  /** `by` identifies a row where the primary key does not. */
  constructor(writes: TableWrites<R>, found: readonly H[], by?: (row: H) => readonly unknown[]) {
    this.#writes = writes;
    const { key } = writes.table;
    this.#keyOf = (row) => keyText(by?.(row) ?? key.map((column) => (row as Record<string, unknown>)[column]));
    for (const row of found) this.#rows.set(this.#keyOf(row), { row, stored: true });
  }

  get(...key: readonly unknown[]): H | undefined {
    return this.#rows.get(keyText(key))?.row;
  }

  put(row: R): void {
    const key = this.#keyOf(row);
    this.#rows.set(key, { row, stored: this.#rows.get(key)?.stored ?? false, written: row });
  }

  /** A row that is there and stays as it is. */
  found(row: H): void {
    const key = this.#keyOf(row);
    if (!this.#rows.has(key)) this.#rows.set(key, { row, stored: true });
  }

  /** Rows that a unit has written, and that the database has, or not. */
  written(stored: boolean): R[] {
    const those: R[] = [];
    for (const current of this.#rows.values()) {
      if (current.stored === stored && current.written !== undefined) those.push(current.written);
    }
    return those;
  }

  /** Updates, then inserts, in the order of the keys that are given. */
  statements(orderOf: (row: R) => readonly unknown[] = (row) => [this.#keyOf(row)]): Statement[] {
    const { update, insert } = this.#writes;
    return [...update(this.written(true)), ...insert(sorted(this.written(false), orderOf))];
  }
}

function keyText(key: readonly unknown[]): string {
  return key.length === 1 ? String(key[0]) : JSON.stringify(key);
}
