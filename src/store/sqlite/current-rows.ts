import type { EffectsTable } from "../schema/runs.ts";
import type { CurrentRows, CurrentRun } from "../units/current-rows.ts";
import type { SqliteValue } from "./open-database.ts";
import type { RunCounts } from "./run-counts.ts";
import type { Statements } from "./statements.ts";

/** What one unit is checked against: each row is looked up when it is asked for, runs once. */
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
