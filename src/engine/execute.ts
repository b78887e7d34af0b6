import type { AuditDraft } from "../protocol/audit/audit.ts";
import { defined } from "../protocol/defined.ts";
import { AppError } from "../protocol/errors.ts";
import { ENGINE_VERSION, type EventDraft, type RunEvent } from "../protocol/events.ts";
import type { Caller, Visibility } from "../protocol/identity/identity.ts";
import type { Evidence } from "../protocol/promotion/evidence.ts";
import { activeNodes, type Run } from "../protocol/runs/run.ts";
import { isTerminal } from "../protocol/runs/run-status.ts";
import type { IdempotencyOutcome, Refusal, Unit } from "../store/port/store.ts";
import { childPlansOf } from "./families/child-runs.ts";
import { endHeadOnly, familyWrites, withFamily, writesAbove } from "./families/family.ts";
import { type FamilyReads, FamilyTooLarge } from "./families/family-reads.ts";
import type { AuditNote, Ruling } from "./gates/decide/vote.ts";
import type { Host } from "./host.ts";
import { childRoom, creationLimits } from "./runs/creation-limits.ts";
import { stamp } from "./runs/stamp.ts";
import { isHeadOnly } from "./runs/too-large.ts";
import { checked, checkedTurn } from "./schemas/schema-checks.ts";
import { RecordedOutcome } from "./shared/once-only.ts";
import { serialize } from "./shared/serialize.ts";
import { type Turn, turnSteps } from "./worker/turn.ts";
import type { Plan } from "./workflows/decide/plan.ts";

/** The idempotency outcome that a result would be recorded as; undefined when the request carries no key. */
export type Recorder<T> = (result: T) => IdempotencyOutcome | undefined;

/** A request of a caller, with the recorder of its response. */
export interface ApiRequest<Request, Response> {
  readonly caller: Caller;
  readonly request: Request;
  readonly record: Recorder<Response>;
}

interface Command<T> {
  readonly runId: string;
  readonly caller: Caller;
  /**
   * Pure. Throws an AppError to refuse without a record; returns no events when there is nothing to do. A ruling may refuse and have something
   * to write: the attempt, or an interrupt that has expired.
   */
  decide(run: Run, plan: Plan, evidence?: Evidence): readonly EventDraft[] | Ruling;
  /** Read before each decision. */
  evidence?(run: Run): Promise<Evidence | undefined>;
  result(run: Run): T;
  /** Only written when something changed. */
  audit?(run: Run): AuditNote;
  readonly record: Recorder<T>;
  /** The run that the caller has just read; it is read again only after a conflict. */
  readonly seen?: Run;
  /** The decision where the run's children cannot be written with it: a worker changes them afterwards. */
  decideAlone?(run: Run): readonly EventDraft[];
  /** Whether the run is advanced as far as it goes in the same commit, in place of a worker's next turn. */
  readonly goesOn?: boolean;
}

const ATTEMPTS = 20;

/** Attempts to write a run together with its children; then the run is written alone. */
const TOGETHER = 5;

/** Changes an existing run: read, decide, append, and again where the run changed in between. */
export async function execute<T>(host: Host, command: Command<T>): Promise<T> {
  const { runId, caller, seen } = command;
  const before = seen ?? (await visibleRun(host, caller, runId));
  const first = await attempt(host, command, before);
  if (first !== "moved") return first.result;
  return serialize(host.store, before, async () => {
    for (let attempts = 1; attempts < ATTEMPTS; attempts++) {
      const now = await visibleRun(host, caller, runId);
      const done = await attempt(host, attempts < TOGETHER ? command : inParts(command), now);
      if (done !== "moved") return done.result;
    }
    throw new AppError("run_version_conflict", { runId });
  });
}

function inParts<T>(command: Command<T>): Command<T> & { readonly alone?: true } {
  const { decideAlone } = command;
  return decideAlone === undefined ? command : { ...command, decide: decideAlone, alone: true };
}

async function attempt<T>(
  host: Host,
  command: Command<T> & { readonly alone?: true },
  before: Run,
): Promise<{ readonly result: T } | "moved"> {
  const { runId, caller } = command;
  if (isHeadOnly(before)) {
    await endHeadOnly(host, before);
    return "moved";
  }
  const plan = await host.plans.byHash(before.workflowHash);
  const evidence = await command.evidence?.(before);
  const decided = await checked(() => command.decide(before, plan, evidence));
  const {
    events: drafts,
    audit: notes,
    refusal,
    preconditions = [],
  } = "events" in decided ? decided : plainRuling(decided);
  const nowMs = host.nowMs();
  const stamping = { runId, nowMs, newId: host.newId };
  const decidedRun = drafts.length > 0 ? stamp(before, drafts, stamping) : { run: before, events: [] };
  const goesOn = command.goesOn === true && drafts.length > 0 && refusal === undefined;
  const further = goesOn ? await advanceRun(host, plan, decidedRun.run) : undefined;
  const run = further?.run ?? decidedRun.run;
  const events = [...decidedRun.events, ...(further?.events ?? [])];
  const result = command.result(run);
  const outcome = refusal === undefined ? command.record(result) : undefined;
  const note = drafts.length > 0 ? command.audit?.(run) : undefined;
  const audit = [...notes, ...(note === undefined ? [] : [note])];
  if (drafts.length > 0 || audit.length > 0 || outcome !== undefined) {
    const write = { runId, expectedVersion: before.version, events, run };
    const familyOf = (reads: FamilyReads) =>
      command.alone ? writesAbove(host, reads, before, run) : familyWrites(host, reads, before, run, further?.children);
    const unit: Unit = {
      tenant: caller.tenant,
      ...(audit.length === 0 ? {} : { audit: audit.map((one) => auditDraft(caller, nowMs, runId, one)) }),
      ...defined({ idempotency: outcome }),
      ...(preconditions.length === 0 ? {} : { preconditions }),
      ...(further === undefined || further.children.length === 0 ? {} : creationLimits(host)),
    };
    const mayLeaveChildren = command.decideAlone !== undefined && command.alone !== true;
    const commit = async (reads: FamilyReads) =>
      host.store.commit(drafts.length === 0 ? unit : { ...unit, runs: [write, ...(await familyOf(reads))] });
    const committed = await withFamily(host, commit, { together: mayLeaveChildren }).catch((error: unknown) => {
      if (error instanceof FamilyTooLarge && mayLeaveChildren) return undefined;
      throw error;
    });
    if (committed === undefined) return attempt(host, inParts(command), before);
    if (!committed.ok) {
      const { type } = committed.refusal;
      // The decision is kept; a worker takes the turn, whose children found no room.
      if (further !== undefined && childRoom(committed.refusal) !== undefined) {
        return attempt(host, { ...command, goesOn: false }, before);
      }
      if (type !== "version" && type !== "precondition") throw refused(committed.refusal);
      return "moved";
    }
  }
  if (refusal !== undefined) throw refusal;
  return { result };
}

/**
 * The turn that a worker would take next, taken in the commit of a decision, so that its result is there one commit sooner. Undefined, and left
 * to a worker, where a worker has the run, where the next step has effects or may have its event already, and where this process has no worker.
 */
async function advanceRun(host: Host, plan: Plan, run: Run): Promise<Turn | undefined> {
  if (host.localWorker === undefined || isTerminal(run.status)) return undefined;
  const active = activeNodes(run);
  const ready = active.some(([, { status }]) => status === "resumed");
  if (!ready || active.some(([, { status }]) => status === "executing")) return undefined;
  try {
    const childPlans = await childPlansOf(host, run, plan);
    const turn = await checkedTurn(() =>
      turnSteps(host, plan, run, [], new Map(), childPlans, [], { smallOnly: true }),
    );
    return turn.launches.length === 0 && !turn.events.some(waitsForEvent) ? turn : undefined;
  } catch {
    // The worker reports problems of the run and takes large turns; the decision is kept.
    return undefined;
  }
}

/** Whether an event begins a wait for an external event, which may be held already: a worker looks for it. */
function waitsForEvent(event: RunEvent): boolean {
  return event.type === "interrupt.requested" && event.payload.kind === "external-event";
}

function plainRuling(events: readonly EventDraft[]): Ruling {
  return { events, audit: [] };
}

/** Throws `not_found` for runs that do not exist or are not visible. */
export async function visibleRun(host: Pick<Host, "store">, visible: Visibility, runId: string): Promise<Run> {
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
  { action, details }: AuditNote,
): AuditDraft {
  const occurredAt = new Date(nowMs).toISOString();
  return { occurredAt, actor: caller.principal, action, target, details: { ...details, keyId: caller.keyId } };
}

/** Commits a unit with the idempotency outcome of its request. Throws the error of a refusal. */
export async function commitUnit(
  { store }: Pick<Host, "store">,
  unit: Unit,
  outcome?: IdempotencyOutcome,
): Promise<void> {
  const committed = await store.commit({ ...unit, ...defined({ idempotency: outcome }) });
  if (!committed.ok) throw refused(committed.refusal);
}

/** The error of a refusal that a new decision would not change. */
export function refused(refusal: Refusal): Error {
  switch (refusal.type) {
    case "tenant-limit":
      return new AppError("tenant_run_limit", { limit: refusal.limit });
    case "family-limit":
      return new AppError("run_version_conflict", { runId: refusal.rootRunId });
    case "idempotency":
      return new RecordedOutcome(refusal.record);
    case "active":
      return new AppError("run_already_active", { activeRunId: refusal.runId });
    case "version":
      // Version 0: the run of a side write does not exist.
      if (refusal.version === 0) return new AppError("not_found", { what: "run", runId: refusal.runId });
      return new AppError("run_version_conflict", { runId: refusal.runId });
    case "lease":
      return new AppError("lease_lost", { runId: refusal.runId });
    case "effect":
      return new AppError("run_version_conflict", { runId: refusal.record.runId });
    case "external-event":
      return new AppError("unavailable", { reason: "The external event was taken by another request" });
    case "annotation": {
      const { annotationId, state } = refusal;
      return new AppError("annotation_conflict", { annotationId, problem: `it is ${state ?? "not there"} by now` });
    }
    case "precondition":
      return new AppError("run_version_conflict", { runId: refusal.runId });
    case "queue":
      return new AppError("queue_conflict", { id: refusal.id });
    case "tape":
      return new AppError("tape_conflict", { runId: refusal.runId });
    case "document":
      return new AppError("document_conflict", { what: refusal.kind, key: refusal.key });
    case "review":
      return refusal.there
        ? new AppError("review_session_busy", { sessionId: refusal.sessionId, name: "SessionBusy" })
        : new AppError("not_found", { what: "review session", sessionId: refusal.sessionId, name: "SessionNotFound" });
  }
}
