import type { AuditDraft } from "../../protocol/audit/audit.ts";
import type { Claim } from "../port/store.ts";
import { auditRow, type ChainHead, extendChain } from "../rows/rows.ts";
import type { EffectsTable } from "../schema/runs.ts";
import { checkUnit, makesWork } from "../units/check-unit.ts";
import type { CurrentRows, CurrentRun } from "../units/current-rows.ts";
import { ends } from "../units/unit-checks.ts";
import { databaseErrorOf } from "./database-error.ts";
import type { SqliteDatabase, SqliteValue } from "./open-database.ts";
import type { FlatUnit, Operation, Outcome, Write } from "./operations.ts";
import { RunCounts, valuesOf } from "./row-statements.ts";
import { type CachedStatement, cacheStatements, prepareStatements, type Statements } from "./statements.ts";

/** Beyond this many tenants the heads are forgotten and read again as needed. */
const HEADS_MAX = 10_000;

/**
 * Runs batches of operations on the only connection that writes, each batch in one transaction and so with one fsync.
 * Where it runs, in a thread or in the caller's, is not its business.
 */
export class BatchCommitter {
  // Held as long as its statements: see `openForWriting`.
  readonly #db: SqliteDatabase;
  readonly #statements: Statements;
  readonly #cached: (sql: string) => CachedStatement;
  /** Where chains end, as committed. Only this connection adds to them. */
  readonly #heads = new Map<string, ChainHead>();
  readonly #counts: RunCounts;

  constructor(db: SqliteDatabase) {
    this.#db = db;
    this.#statements = prepareStatements(db);
    this.#cached = cacheStatements(db);
    this.#counts = new RunCounts(this.#statements);
  }

  /**
   * One outcome for each operation. A refused unit leaves no trace and the rest commits. When an operation throws, the
   * batch is undone and each is tried alone, so that a mistake in one fails only its caller; savepoints would do the
   * same at a price for every unit. A database error fails all, and nothing of the batch is acknowledged.
   */
  commit(operations: readonly Operation[]): Outcome[] {
    try {
      return this.#commitTogether(operations);
    } catch (error) {
      this.#undo();
      this.#heads.clear();
      this.#counts.undone();
      const reason = databaseErrorOf(error);
      if (reason !== undefined) return operations.map(() => ({ kind: "failed", databaseError: true, message: reason }));
      if (operations.length > 1) return operations.flatMap((operation) => this.commit([operation]));
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return [{ kind: "failed", databaseError: false, message }];
    }
  }

  #commitTogether(operations: readonly Operation[]): Outcome[] {
    const moved = new Map<string, ChainHead>();
    this.#statements.begin.run();
    const outcomes = operations.map((operation) => this.#perform(operation, moved));
    for (const [tenant, { seq, hash }] of moved) this.#statements.putAuditHead.run(tenant, seq, hash);
    this.#counts.write();
    this.#statements.commit.run();

    // Only now are they true.
    if (this.#heads.size + moved.size > HEADS_MAX) this.#heads.clear();
    for (const [tenant, head] of moved) this.#heads.set(tenant, head);
    this.#counts.committed();
    return outcomes;
  }

  /** SQLite may or may not have rolled back by itself, depending on the error. */
  #undo(): void {
    try {
      this.#db.exec("rollback");
    } catch {}
  }

  #perform(operation: Operation, moved: Map<string, ChainHead>): Outcome {
    switch (operation.kind) {
      case "unit":
        return this.#performUnit(operation.unit, moved);
      case "statement":
        return this.#performStatement(operation.sql, operation.parameters);
      case "guarded":
        return { kind: "rows", rows: [], changes: this.#performGuarded(operation.first, operation.rest) };
      case "claim":
        return rows(this.#claim(operation.claim));
      case "renew": {
        const { owner, runIds, untilMs } = operation;
        return rows(runIds.filter((runId) => this.#statements.renewLease.run(untilMs, runId, owner).changes === 1));
      }
    }
  }

  #performUnit(unit: FlatUnit, moved: Map<string, ChainHead>): Outcome {
    const { checks } = unit;
    const current = new LookedUpRows(this.#statements, this.#counts);
    const checked = checkUnit(checks, current);
    if (checked.refusal !== undefined) return { kind: "refused", refusal: checked.refusal };
    // First of all: a run that ends makes room in its scope for one that begins in the same unit.
    for (const check of checks.runs) {
      const scope = ends(check) ? current.run(check.runId)?.dedup_scope : undefined;
      if (scope) this.#statements.leaveDedupScope.run(check.runId);
    }
    for (const [name, values] of unit.writes) this.#statements[name].run(...values);
    this.#counts.apply(unit, checked.counts);
    if (unit.audit !== undefined) this.#appendAudit(unit, JSON.parse(unit.audit), moved);
    return { kind: "committed", work: makesWork(checks, current) };
  }

  #appendAudit({ checks, history }: FlatUnit, drafts: readonly AuditDraft[], moved: Map<string, ChainHead>): void {
    const { tenant } = checks;
    const before = moved.get(tenant) ?? this.#heads.get(tenant) ?? this.#statements.auditHead.get(tenant);
    const { entries, head } = extendChain(before as ChainHead | undefined, drafts);
    for (const entry of entries) this.#statements.insertAudit.run(...valuesOf("insertAudit", auditRow(tenant, entry)));
    for (const [n, [annotation_id, change]] of history.entries()) {
      const row = { tenant, seq: head.seq, n, annotation_id, change };
      this.#statements.insertAnnotationChange.run(...valuesOf("insertAnnotationChange", row));
    }
    moved.set(tenant, head);
  }

  #performStatement(sql: string, parameters: readonly SqliteValue[]): Outcome {
    const { statement, returnsRows } = this.#cached(sql);
    if (returnsRows) return rows(statement.all(...parameters));
    return { kind: "rows", rows: [], changes: Number(statement.run(...parameters).changes) };
  }

  #performGuarded([name, values]: Write, rest: readonly Write[]): number {
    const changes = Number(this.#statements[name].run(...values).changes);
    if (changes > 0) for (const [then, given] of rest) this.#statements[then].run(...given);
    return changes;
  }

  #claim({ owner, nowMs, untilMs, limit, engineVersion, among, stateBytes = {} }: Claim): string[] {
    const { claimRuns, claimRunsOf } = this.#statements;
    const { above = 0, upTo = Number.MAX_SAFE_INTEGER } = stateBytes;
    const found =
      among === undefined
        ? claimRuns.all(owner, untilMs, nowMs, nowMs, engineVersion, above, upTo, limit)
        : among.tenants.flatMap((tenant) =>
            claimRunsOf.all(owner, untilMs, tenant, nowMs, nowMs, engineVersion, above, upTo, among.share),
          );
    return (found as { wake_at: number; state: string }[])
      .sort((a, b) => a.wake_at - b.wake_at)
      .map((row) => row.state);
  }
}

function rows(found: unknown[]): Outcome {
  return { kind: "rows", rows: found, changes: found.length };
}

/** The current rows that one unit is checked against: each is looked up when it is needed, runs only once. */
export class LookedUpRows implements CurrentRows {
  readonly #statements: Statements;
  readonly #counts: RunCounts;
  readonly #runs = new Map<string, CurrentRun | undefined>();

  constructor(statements: Statements, counts: RunCounts) {
    this.#statements = statements;
    this.#counts = counts;
  }

  run(runId: string): CurrentRun | undefined {
    if (this.#runs.has(runId)) return this.#runs.get(runId);
    const run = this.#row<CurrentRun>("run", runId);
    this.#runs.set(runId, run);
    return run;
  }
  activeRun(tenant: string, workflowId: string, scope: string): string | undefined {
    return this.#row<{ run_id: string }>("activeRun", tenant, workflowId, scope)?.run_id;
  }
  activeRuns(tenant: string): number {
    return this.#counts.activeRuns(tenant);
  }
  family(rootRunId: string): ReturnType<CurrentRows["family"]> {
    return this.#row("family", rootRunId);
  }
  effect(effectId: string): EffectsTable | undefined {
    return this.#row("effect", effectId);
  }
  outcome({ tenant, operation, key }: Parameters<CurrentRows["outcome"]>[0]): ReturnType<CurrentRows["outcome"]> {
    return this.#row("outcome", tenant, operation, key);
  }
  externalEvent(key: Parameters<CurrentRows["externalEvent"]>[0]): ReturnType<CurrentRows["externalEvent"]> {
    return this.#row("externalEvent", key.tenant, key.workspace, key.correlationId, key.eventId);
  }
  annotation(tenant: string, annotationId: string): ReturnType<CurrentRows["annotation"]> {
    return this.#row("annotation", tenant, annotationId);
  }
  queue(queueId: string): ReturnType<CurrentRows["queue"]> {
    return this.#row("queue", queueId);
  }
  queueNamed(tenant: string, workspace: string | null, name: string): ReturnType<CurrentRows["queueNamed"]> {
    return this.#row("queueNamed", tenant, workspace, name);
  }
  item(itemId: string): ReturnType<CurrentRows["item"]> {
    return this.#row("item", itemId);
  }
  itemAbout(queueId: string, subject: string): ReturnType<CurrentRows["itemAbout"]> {
    return this.#row("itemAbout", queueId, subject);
  }
  tape(tenant: string, workspace: string | null, digest: string): string | undefined {
    return this.#row<{ run_id: string }>("tape", tenant, digest, workspace)?.run_id;
  }
  sidecarRevision(runId: string): number {
    return this.#row<{ revision: number }>("sidecar", runId)?.revision ?? 0;
  }
  review(sessionId: string): ReturnType<CurrentRows["review"]> {
    return this.#row("review", sessionId);
  }
  documentRevision({ tenant, kind, key }: Parameters<CurrentRows["documentRevision"]>[0]): number {
    return this.#row<{ revision: number }>("document", tenant, kind, key)?.revision ?? 0;
  }
  judgedSince(tenant: string, seq: number, runId: string): boolean {
    return this.#row("judgedSince", tenant, seq, runId) !== undefined;
  }

  #row<R>(statement: keyof Statements, ...values: SqliteValue[]): R | undefined {
    return this.#statements[statement].get(...values) as R | undefined;
  }
}
