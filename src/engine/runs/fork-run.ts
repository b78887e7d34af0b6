import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { RunEvent } from "../../protocol/events.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { ForkRunFurtherRequest, ForkRunResponse, RunOptionsOverlay } from "../../protocol/runs/fork-api.ts";
import { type ForkedFrom, startersOf } from "../../protocol/runs/forked-from.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { secretsOf } from "../../protocol/runs/snapshot.ts";
import type { Trace } from "../../protocol/runs/trace.ts";
import { isRecorded } from "../../protocol/tapes/api.ts";
import type { Unit } from "../../store/port/store.ts";
import { auditDraft, type Recorder, refused, visibleRun } from "../execute.ts";
import { isHostOnly } from "../families/child-runs.ts";
import type { Host } from "../host.ts";
import { checked } from "../schemas/schema-checks.ts";
import { hideSecrets, requireFewSecrets } from "../secrets/hide-secrets.ts";
import { roomOf } from "../worker/run-room.ts";
import { isStartable, type Plan } from "../workflows/decide/plan.ts";
import { PlanFacts, type PlanFactsHost } from "../workflows/plan-facts.ts";
import { branchPoint, type LaterEvents } from "./branch-point.ts";
import { creationLimits } from "./creation-limits.ts";
import { beginBranch, copyHistory, endBranch } from "./decide/fork-run.ts";
import { handOver } from "./hand-over.ts";
import { readLog, runEvent } from "./read-log.ts";
import { stamp } from "./stamp.ts";

interface ForkRun {
  readonly caller: Caller;
  /** The source. */
  readonly runId: string;
  readonly request: ForkRunFurtherRequest;
  /** The trace that the request is part of. */
  readonly trace?: Trace | undefined;
  readonly record: Recorder<ForkRunResponse>;
}

/** Creates a run that begins with the history of another one. The source is not changed. */
export async function forkRun(host: Host, command: ForkRun): Promise<ForkRunResponse> {
  const { caller, runId: sourceRunId, request } = command;
  const source = await sourceOf(host, command);
  if (isRecorded(source)) {
    throw new AppError("run_read_only", { runId: sourceRunId, problem: "it cannot be forked or replayed" });
  }
  const fromSeq = checkedPoint(request, source);
  await checkMotive(host, command);
  const history = await historyOf(host, caller, source, fromSeq);
  const nowMs = host.nowMs();
  const from: ForkedFrom = defined({
    runId: sourceRunId,
    fromSeq,
    mode: request.mode,
    at: new Date(nowMs).toISOString(),
    by: caller.principal,
    starters: await startersBehind(host, source),
    sourceVersion: source.version,
    motivatedBy: request.motivatedBy,
  });
  const { run, events } = await begun(host, from, history, source, command);
  const { runId, status } = run;
  const { mode } = request;
  const eventsUrl = `/v1/runs/${runId}/events`;
  const response: ForkRunResponse = { runId, sourceRunId, fromSeq, mode, status, eventsUrl };
  const outcome = command.record(response);
  const details = { sourceRunId, fromSeq, mode };
  await create(host, run, events, {
    tenant: caller.tenant,
    audit: [auditDraft(caller, nowMs, runId, { action: "run.forked", details })],
    ...defined({ idempotency: outcome }),
  });
  return response;
}

/** The source. Throws `fork_source_expired` for a deleted run that the caller could see, `not_found` for other runs that it cannot see. */
async function sourceOf(host: Host, { caller, runId, request }: ForkRun): Promise<Run> {
  try {
    return await visibleRun(host, caller, runId);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "not_found") throw error;
    if ((await host.store.readTombstone(caller, runId)) === undefined) throw error;
    throw expired(runId, request.fromSeq ?? 0);
  }
}

function expired(sourceRunId: string, fromSeq: number): AppError {
  return new AppError("fork_source_expired", { sourceRunId, fromSeq });
}

function checkedPoint({ mode, fromSeq, runOptionsOverlay = {} }: ForkRunFurtherRequest, source: Run): number {
  const refuse = (path: string, problem: string): never => {
    throw validationError(`body${path} ${problem}`, { problems: [{ path, problem }] });
  };
  if (mode === "branch" && fromSeq === undefined) refuse("/fromSeq", "is required to branch: say where");
  if (mode === "replay" && Object.keys(runOptionsOverlay).length > 0) {
    refuse("/runOptionsOverlay", "must be left out: a replay keeps the options of its source. Use mode branch");
  }
  const point = fromSeq ?? 0;
  if (point > source.version) {
    const problem = `its log ends at sequence ${source.version - 1}, before ${point}`;
    throw new AppError("fork_point_invalid", { problem, sourceRunId: source.runId, fromSeq: point });
  }
  return point;
}

async function checkMotive(host: Host, { caller, runId, request }: ForkRun): Promise<void> {
  const { motivatedBy } = request;
  if (motivatedBy === undefined) return;
  const annotation = await host.store.readAnnotation(caller, motivatedBy);
  if (annotation?.runId === runId) return;
  const problem = "names no annotation of the run that is forked";
  throw validationError(`body/motivatedBy ${problem}`, { problems: [{ path: "/motivatedBy", problem }] });
}

/** All starters behind a source. Forks of earlier versions name only their own, so the runs that they come from are read too. */
async function startersBehind(host: Host, source: Run): Promise<string[]> {
  const found = new Set(startersOf(source));
  let { forkedFrom: from } = source;
  while (from !== undefined && from.starters === undefined) {
    const before = await host.store.readRun({ tenant: source.owner.tenant }, from.runId);
    if (before === undefined) break;
    for (const one of startersOf(before)) found.add(one);
    from = before.forkedFrom;
  }
  return [...found];
}

/** Logs of more bytes take room before they are read. */
const LARGE_LOG_BYTES = 1_048_576;

/** The events before `fromSeq`, at least the first. */
async function historyOf(host: Host, caller: Caller, { runId }: Run, fromSeq: number): Promise<RunEvent[]> {
  const length = Math.max(1, fromSeq);
  const bytes = await host.store.logBytes(runId, length);
  const { maxLogBytes } = roomOf(host);
  if (bytes > maxLogBytes) throw new AppError("run_too_large", { runId, bytes, limitBytes: maxLogBytes });
  if (bytes > LARGE_LOG_BYTES) await caller.beforeLargeRead?.(bytes);
  const history = await readLog(host.store, runId, length);
  // The source was deleted meanwhile.
  if (history.length < length) throw expired(runId, fromSeq);
  return history;
}

/** Events of a source after its fork point. Throws where the source was deleted meanwhile: they say which nodes it had decided about before. */
async function laterEvents(
  { store }: Host,
  { runId, fromSeq, sourceVersion }: ForkedFrom,
  { start, count }: { readonly start: number; readonly count: number },
): Promise<LaterEvents> {
  const limit = Math.min(count, sourceVersion - start);
  if (limit <= 0) return { events: [], isCut: false };
  const page = await store.readEvents(runId, start, limit);
  const isCut = page.cut === true;
  if (page.length < limit && !isCut) throw expired(runId, fromSeq);
  return { events: page.map(runEvent), isCut };
}

async function begun(
  host: Host,
  from: ForkedFrom,
  history: readonly RunEvent[],
  source: Run,
  { request, trace }: ForkRun,
) {
  const runId = host.newId("run");
  const copied = copyHistory({ runId, from, history, trace, newEventId: () => host.newId("evt") });
  if (request.mode === "replay") return copied;
  const overlay = request.runOptionsOverlay ?? {};
  if (overlay.configurable?.mockProvider !== undefined) throw new AppError("mock_provider_forbidden");
  const plan = await host.plans.byHash(copied.run.workflowHash);
  if (isHostOnly(host, plan)) throw hostsOwn(from, plan.definition.id);
  const isOver = isTerminal(copied.run.status);
  if (!isOver) await refuseOutdated(host, plan, copied.run, overlay);
  const readOn = (count: number) => laterEvents(host, from, { start: history.length, count });
  const log = { history: copied.events, sourceMode: source.forkedFrom?.mode, readOn };
  const point = isOver ? undefined : await branchPoint(host, plan, copied.run, overlay, log);
  const begins = await checked(() => beginBranch(plan, copied.run, overlay, host.limits, point));
  const drafts = await Promise.all(begins.map((draft) => hideSecrets(draft, plan.definition, host.scrubber)));
  if (drafts.length === 0) return copied;
  const stamping = { runId, nowMs: Date.parse(from.at), newId: host.newId };
  const branch = stamp(copied.run, drafts, stamping);
  requireFewSecrets(secretsOf(branch.run, plan.sensitivity));
  const ends = await checked(() => endBranch(plan, branch.run, copied.events));
  const { run, events } = stamp(branch.run, ends, stamping);
  return { run, events: [...copied.events, ...branch.events, ...events] };
}

/**
 * The refusal of a branch of a run that only the host starts. The host decided the input of such a run (its requester, its limits); a branch
 * would execute it without the scope for it, with an input of the caller's choice.
 */
function hostsOwn({ runId: sourceRunId, fromSeq }: ForkedFrom, workflowId: string): AppError {
  const problem = `runs of ${workflowId} are made by the host and cannot be branched; ask for another one, or replay it`;
  return new AppError("fork_point_invalid", { problem, sourceRunId, fromSeq });
}

async function create(host: Host, run: Run, events: readonly RunEvent[], unit: Unit): Promise<void> {
  await handOver(isTerminal(run.status) ? {} : host, run, async (lease) => {
    const write = defined({ runId: run.runId, expectedVersion: 0, events, run, lease });
    const committed = await host.store.commit({ ...unit, ...creationLimits(host), runs: [write] });
    if (!committed.ok) throw refused(committed.refusal);
  });
}

/**
 * Refuses a branch of a workflow that was registered anew since and asks a person now: the branch would execute the old definition, without
 * the gates of the new one. A branch that changes no options and has no effects is allowed. A workflow that is not active any more has no
 * branches, as it has no new runs.
 *
 * @param run the branch at its fork point
 */
export async function refuseOutdated(
  host: PlanFactsHost,
  plan: Plan,
  run: Run,
  { inputs, configurable }: RunOptionsOverlay,
): Promise<void> {
  const { workflowId, owner, forkedFrom } = run;
  const refuse = (problem: string): never => {
    throw new AppError("fork_point_invalid", {
      problem: `workflow ${workflowId} ${problem}`,
      sourceRunId: forkedFrom?.runId,
      fromSeq: forkedFrom?.fromSeq,
    });
  };
  const current = await host.plans.current(owner.tenant, workflowId);
  if (current === undefined || current.hash === plan.hash) return;
  if (!isStartable(current)) refuse("is not active any more; replay the run");
  const facts = new PlanFacts(host, owner.tenant);
  if (!(await facts.asks(current.graph.order))) return;
  const changesNothing = inputs === undefined && configurable === undefined;
  if (changesNothing && (await facts.acting(plan)).length === 0) return;
  refuse("was registered anew since, and asks a person or waits for an event; start a new run, or replay this one");
}
