import { agentsOfNode } from "../../protocol/agents/agent-of.ts";
import { defined } from "../../protocol/defined.ts";
import type { QueueQuery } from "../../protocol/queues/api.ts";
import type { RunStatus } from "../../protocol/runs/run-status.ts";
import type { AnnotationQuery } from "../../store/port/judgments.ts";
import type { Host } from "../host.ts";
import { identityOf, type RunIdentity } from "../runs/run-identity.ts";
import { annotationMatches, fromMs, inSample } from "./decide/matches.ts";
import { asksForAnnotations } from "./decide/rules.ts";
import type { Subject } from "./item-record.ts";
import { placeOf, type Queue, type QueueCursor } from "./queue-record.ts";

/** A page of what the query of a queue finds after a cursor. */
export interface Found {
  readonly subjects: readonly Subject[];
  readonly cursor: QueueCursor;
  readonly atEnd: boolean;
}

export const PAGE_ROWS = 200;

/**
 * Runs are found by when they ended, by the clock of the host that ended them and some time before that is written. Once
 * at the end, the query begins this much earlier the next time, so that what was late is found.
 */
export const OVERLAP_MS = 60_000;

/** What ended so long ago is not looked at again, however little has ended since: nothing is as late as that. */
const SETTLED_MS = 600_000;

export function findSubjects(host: Host, queue: Queue, query: QueueQuery, cursor: QueueCursor): Promise<Found> {
  if (!asksForAnnotations(query)) return findEnded(host, queue, query, cursor);
  if (query.status === undefined) return findSaid(host, queue, query, cursor);
  return findSaidOfEnded(host, queue, query, cursor);
}

/** Something is often said before a run has ended as the query asks: so runs are looked at once more when they have. */
async function findSaidOfEnded(host: Host, queue: Queue, query: QueueQuery, cursor: QueueCursor): Promise<Found> {
  const said = await findSaid(host, queue, query, cursor);
  // Written down together with the place: whatever ended before was in its last state when that was read.
  const ended = cursor.ended ?? { endedAtMs: host.nowMs() - SETTLED_MS, runId: "" };
  if (!said.atEnd) return { ...said, cursor: { ended, ...said.cursor } };
  const since = await findEnded(host, queue, query, { ended });
  const subjects = [...said.subjects];
  for (const subject of since.subjects) {
    const [first] = await host.store.listAnnotations(placeOf(queue), { ...askedOf(query), runId: subject.runId });
    if (first !== undefined) subjects.push({ ...subject, position: first.createdAtMs });
  }
  return { subjects, cursor: { ...since.cursor, ...said.cursor }, atEnd: since.atEnd };
}

/** The oldest annotation that would bring a run into the queue. */
function askedOf(query: QueueQuery): AnnotationQuery {
  const { flagged, label, ratingMax, nodeId } = query;
  return {
    limit: 1,
    order: "oldest",
    state: "live",
    fromMs: fromMs(query),
    ...(flagged ? { flag: "open" } : {}),
    ...defined({ label, ratingMax, nodeId }),
  };
}

async function findEnded(host: Host, queue: Queue, query: QueueQuery, cursor: QueueCursor): Promise<Found> {
  const { workflowId, agentId, status, nodeId } = query;
  const after = cursor.ended ?? { endedAtMs: fromMs(query), runId: "" };
  const rows = await host.store.endedRuns(
    placeOf(queue),
    defined({ after, limit: PAGE_ROWS, workflowId, agentId, status }),
  );
  const subjects = rows
    .filter(({ runId }) => inSample(query, runId))
    .map(({ runId, workflowId, agentId: first, endedAtMs }) => ({
      runId,
      ...defined({ nodeId }),
      workflowId,
      ...judgedAgent(agentId ?? first),
      position: endedAtMs,
    }));
  // In the middle of what has ended, with nothing after it: that is the end, and what was late is looked for from there.
  const last = rows.at(-1) ?? (after.runId === "" ? undefined : after);
  if (last === undefined) return { subjects, cursor, atEnd: true };
  if (rows.length === PAGE_ROWS) return { subjects, cursor: { ended: placeIn(last) }, atEnd: false };
  const endedAtMs = Math.max(fromMs(query), last.endedAtMs - OVERLAP_MS, host.nowMs() - SETTLED_MS);
  return { subjects, cursor: { ended: { endedAtMs, runId: "" } }, atEnd: true };
}

function placeIn({ endedAtMs, runId }: { readonly endedAtMs: number; readonly runId: string }) {
  return { endedAtMs, runId };
}

async function findSaid(host: Host, queue: Queue, query: QueueQuery, cursor: QueueCursor): Promise<Found> {
  const { tenant, workspace } = placeOf(queue);
  const after = cursor.place ?? (await host.store.changePlaceAt(tenant, fromMs(query)));
  const rows = await host.store.annotationChanges(tenant, after, PAGE_ROWS);
  const subjects: Subject[] = [];
  const runOf = runsOnce(host, queue);
  for (const { change, annotation } of rows) {
    if (change !== "recorded" || (workspace !== undefined && annotation.workspace !== workspace)) continue;
    if (!annotationMatches(query, annotation)) continue;
    const run = await runOf(annotation.runId);
    if (run === undefined || (query.status !== undefined && run.status !== query.status)) continue;
    subjects.push({ ...subjectIn(run, query.nodeId, annotation.createdAtMs), ...judgedAgent(query.agentId) });
  }
  const place = rows.at(-1)?.place ?? after;
  return { subjects, cursor: { place }, atEnd: rows.length < PAGE_ROWS };
}

type JudgedRun = RunIdentity & { readonly status: RunStatus };

/** Reads each run once, however many judgments are about it: it may be large. */
function runsOnce(host: Host, queue: Queue): (runId: string) => Promise<JudgedRun | undefined> {
  const known = new Map<string, JudgedRun | undefined>();
  return async (runId) => {
    if (known.has(runId)) return known.get(runId);
    const run = await host.store.readRun(placeOf(queue), runId);
    const judged = run && { ...identityOf(run), status: run.status };
    known.set(runId, judged);
    return judged;
  };
}

export function subjectIn(run: RunIdentity, nodeId: string | undefined, position: number): Subject {
  const [agentId] = agentsOfNode(run, nodeId);
  return {
    runId: run.runId,
    ...defined({ nodeId }),
    workflowId: run.workflowId,
    ...judgedAgent(agentId),
    position,
  };
}

/** Of a run with several agents, the agent that the query asks for, else the first. */
function judgedAgent(agentId: string | undefined): Pick<Subject, "agentId"> {
  return defined({ agentId });
}

/** Whether there is something to judge: a run whose workflow had no such node yet has not. */
export async function hasNode(host: Host, run: Pick<RunIdentity, "workflowHash">, nodeId: string): Promise<boolean> {
  return (await host.plans.byHash(run.workflowHash)).graph.node.has(nodeId);
}
