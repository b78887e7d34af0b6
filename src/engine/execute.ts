import type { AuditDraft } from "../protocol/audit.ts";
import { AppError } from "../protocol/errors.ts";
import { ENGINE_VERSION, type EventDraft } from "../protocol/events.ts";
import type { Caller, Visibility } from "../protocol/identity.ts";
import type { Run } from "../protocol/run.ts";
import type { IdempotencyOutcome, Refusal, Unit } from "../store/store.ts";
import type { Plan } from "./decide/plan.ts";
import type { Host } from "./host.ts";
import { stamp } from "./stamp.ts";
import { StandingOutcome } from "./standing-outcome.ts";

/** The idempotency outcome that a result would be recorded as; undefined when the request carries no key. */
export type Recorder<T> = (result: T) => IdempotencyOutcome | undefined;

export interface Command<T> {
  readonly runId: string;
  readonly caller: Caller;
  /** Pure. Throws an AppError to refuse; returns no events when there is nothing to do. */
  decide(run: Run, plan: Plan): readonly EventDraft[];
  result(run: Run): T;
  /** Only written when something changed. */
  audit?(run: Run): Pick<AuditDraft, "action" | "details">;
  readonly record: Recorder<T>;
}

const ATTEMPTS = 20;

/** Read, decide, append; again when the run moved in between. The shell around every change of an existing run. */
export async function execute<T>(host: Host, command: Command<T>): Promise<T> {
  const { runId, caller } = command;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await visibleRun(host, caller, runId);
    const plan = await host.plans.byHash(before.workflowHash);
    const drafts = command.decide(before, plan);
    const nowMs = host.nowMs();
    const stamping = { runId, nowMs, newId: host.newId };
    const { run, events } = drafts.length > 0 ? stamp(before, drafts, stamping) : { run: before, events: [] };
    const result = command.result(run);
    const outcome = command.record(result);
    const audit = drafts.length > 0 ? command.audit?.(run) : undefined;
    if (drafts.length === 0 && outcome === undefined) return result;
    const unit: Unit = {
      tenant: caller.tenant,
      ...(drafts.length === 0 ? {} : { runs: [{ runId, expectedVersion: before.version, events, run }] }),
      ...(audit === undefined ? {} : { audit: [auditDraft(caller, nowMs, runId, audit)] }),
      ...(outcome === undefined ? {} : { idempotency: outcome }),
    };
    const committed = await host.store.commit(unit);
    if (committed.ok) return result;
    if (committed.refusal.type !== "version") throw refused(committed.refusal);
  }
  throw new AppError("run_version_conflict", { runId });
}

/** Throws `not_found` for runs that do not exist and for those of others alike. */
export async function visibleRun(host: Host, visible: Visibility, runId: string): Promise<Run> {
  const run = await host.store.readRun(visible, runId);
  if (!run) throw new AppError("not_found", { what: "run", runId });
  if (run.engineVersion > ENGINE_VERSION) {
    const versions = { runEngineVersion: run.engineVersion, engineVersion: ENGINE_VERSION };
    throw new AppError("engine_version_mismatch", { runId, ...versions });
  }
  return run;
}

export function auditDraft(
  caller: Pick<Caller, "principal" | "keyId">,
  nowMs: number,
  target: string,
  { action, details }: Pick<AuditDraft, "action" | "details">,
): AuditDraft {
  const occurredAt = new Date(nowMs).toISOString();
  return { occurredAt, actor: caller.principal, action, target, details: { ...details, keyId: caller.keyId } };
}

/** A refusal that deciding again would not change. */
export function refused(refusal: Refusal): Error {
  switch (refusal.type) {
    case "idempotency":
      return new StandingOutcome(refusal.record);
    case "active":
      return new AppError("run_already_active", { activeRunId: refusal.runId });
    case "version":
      return new AppError("run_version_conflict", { runId: refusal.runId });
    case "lease":
      return new AppError("lease_lost", { runId: refusal.runId });
    case "effect":
      return new AppError("run_version_conflict", { runId: refusal.record.runId });
  }
}
