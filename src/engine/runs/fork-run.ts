import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { RunEvent } from "../../protocol/events.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { ForkRunFurtherRequest, ForkRunResponse } from "../../protocol/runs/fork-api.ts";
import { type ForkedFrom, startersOf } from "../../protocol/runs/forked-from.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { secretsOf } from "../../protocol/runs/snapshot.ts";
import type { Trace } from "../../protocol/runs/trace.ts";
import type { Unit } from "../../store/port/store.ts";
import { auditDraft, type Recorder, refused, visibleRun } from "../execute.ts";
import { isHostOnly } from "../families/start-child.ts";
import type { Host } from "../host.ts";
import { checked } from "../schemas/schema-checks.ts";
import { hideSecrets, requireFewSecrets } from "../secrets/hide-secrets.ts";
import { refuseRecorded } from "../tapes/read-only.ts";
import { roomOf } from "../worker/run-room.ts";
import { branchPoint } from "./branch-point.ts";
import { creationLimits } from "./creation-limits.ts";
import { beginBranch, copyHistory, endBranch } from "./decide/fork-run.ts";
import { refuseOutdated } from "./outdated-branch.ts";
import { stamp } from "./stamp.ts";
import { readLog, runEvent } from "./stored-log.ts";

interface ForkRun {
  readonly caller: Caller;
  /** The source. */
  readonly runId: string;
  readonly request: ForkRunFurtherRequest;
  /** The trace that the request is part of. */
  readonly trace?: Trace | undefined;
  readonly record: Recorder<ForkRunResponse>;
}

/** A new run that begins with the history of another one. The source stays as it is, and never learns of it. */
export async function forkRun(host: Host, command: ForkRun): Promise<ForkRunResponse> {
  const { caller, runId: sourceRunId, request } = command;
  const source = await sourceOf(host, command);
  refuseRecorded(source);
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
  const response: ForkRunResponse = {
    runId,
    sourceRunId,
    fromSeq,
    mode,
    status,
    eventsUrl: `/v1/runs/${runId}/events`,
  };
  const outcome = command.record(response);
  const details = { sourceRunId, fromSeq, mode };
  await create(host, run, events, {
    tenant: caller.tenant,
    audit: [auditDraft(caller, nowMs, runId, { action: "run.forked", details })],
    ...defined({ idempotency: outcome }),
  });
  return response;
}

/** A run that was deleted says so to whoever could see it; any other that cannot be seen does not exist. */
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
    throw new AppError("validation_error", { problem: `body${path} ${problem}`, problems: [{ path, problem }] });
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
  throw new AppError("validation_error", {
    problem: `body/motivatedBy ${problem}`,
    problems: [{ path: "/motivatedBy", problem }],
  });
}

/** Forks of earlier versions name only who forked them: the runs that they come from name the others. */
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

/** A log of so many bytes makes room for itself before it is read. */
const LARGE_LOG_BYTES = 1_048_576;

/** At least the first event: there is no run without it. */
async function historyOf(host: Host, caller: Caller, { runId }: Run, fromSeq: number): Promise<RunEvent[]> {
  const length = Math.max(1, fromSeq);
  const bytes = await host.store.logBytes(runId, length);
  const { maxLogBytes } = roomOf(host);
  if (bytes > maxLogBytes) throw new AppError("run_too_large", { runId, bytes, limitBytes: maxLogBytes });
  if (bytes > LARGE_LOG_BYTES) await caller.beforeLargeRead?.(bytes);
  const history = await readLog(host.store, runId, length);
  // Deleted in this very moment.
  if (history.length < length) throw expired(runId, fromSeq);
  return history;
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
  const readOn = async (count: number) =>
    (await host.store.readEvents(from.runId, history.length, count)).map(runEvent);
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
 * The input of such a run was decided by the host when it was asked for: who asked, within which limits. A branch would execute it
 * once more without the scope for it, with an input of the caller's choice.
 */
function hostsOwn({ runId: sourceRunId, fromSeq }: ForkedFrom, workflowId: string): AppError {
  const problem = `runs of ${workflowId} are made by the host and cannot be branched; ask for another one, or replay it`;
  return new AppError("fork_point_invalid", { problem, sourceRunId, fromSeq });
}

/** Handed to this process's worker if it has room, as a new run is. */
async function create(host: Host, run: Run, events: readonly RunEvent[], unit: Unit): Promise<void> {
  const lease = isTerminal(run.status) ? undefined : host.localWorker?.reserve(run.owner.tenant);
  let created = false;
  try {
    const write = defined({ runId: run.runId, expectedVersion: 0, events, run, lease });
    const committed = await host.store.commit({ ...unit, ...creationLimits(host), runs: [write] });
    if (!committed.ok) throw refused(committed.refusal);
    created = true;
  } finally {
    if (lease && !created) host.localWorker?.giveBack(run.owner.tenant);
  }
  if (lease) host.localWorker?.take(run);
}
