import { agentsOfNode } from "../../protocol/agents/agent-of.ts";
import { defined } from "../../protocol/defined.ts";
import type { QueueQuery } from "../../protocol/queues/api.ts";
import type { RunStatus } from "../../protocol/runs/run-status.ts";
import type { AnnotationQuery } from "../../store/port/judgments.ts";
import { isLastPage } from "../../store/port/large-rows.ts";
import type { Host } from "../host.ts";
import { identityOf, type RunIdentity } from "../runs/run-identity.ts";
import { annotationMatches, fromMs, inSample } from "./decide/matches.ts";
import { asksForAnnotations } from "./decide/rules.ts";
import { placeOf, type Queue, type QueueCursor, type Subject } from "./queue-records.ts";

/** A page of the subjects that the query of a queue finds after a cursor. */
export interface Found {
  readonly subjects: readonly Subject[];
  readonly cursor: QueueCursor;
  readonly atEnd: boolean;
}

export const PAGE_ROWS = 200;

/**
 * Runs are found by the time of their end, which is set by the clock of their host some time before it is written. At its end the query steps
 * back this far, so that late runs are found.
 */
export const OVERLAP_MS = 60_000;

/** Runs that ended earlier are not read again: no run is as late as that. */
const SETTLED_MS = 600_000;

export function findSubjects(host: Host, queue: Queue, query: QueueQuery, cursor: QueueCursor): Promise<Found> {
  if (!asksForAnnotations(query)) return findEnded(host, queue, query, cursor);
  if (query.status === undefined) return findAnnotated(host, queue, query, cursor);
  return findAnnotatedAndEnded(host, queue, query, cursor);
}

/** Runs are often annotated before they have the status of the query, so annotated runs are found again when they end. */
async function findAnnotatedAndEnded(host: Host, queue: Queue, query: QueueQuery, cursor: QueueCursor): Promise<Found> {
  const annotated = await findAnnotated(host, queue, query, cursor);
  // Stored together with the place: runs that ended earlier had their last status when the annotations were read.
  const ended = cursor.ended ?? { endedAtMs: host.nowMs() - SETTLED_MS, runId: "" };
  if (!annotated.atEnd) return { ...annotated, cursor: { ended, ...annotated.cursor } };
  const since = await findEnded(host, queue, query, { ended });
  const subjects = [...annotated.subjects];
  for (const subject of since.subjects) {
    const [first] = await host.store.listAnnotations(placeOf(queue), {
      ...annotationQuery(query),
      runId: subject.runId,
    });
    if (first !== undefined) subjects.push({ ...subject, position: first.createdAtMs });
  }
  return { subjects, cursor: { ...since.cursor, ...annotated.cursor }, atEnd: since.atEnd };
}

/** Finds the oldest annotation that brings a run into the queue. */
function annotationQuery(query: QueueQuery): AnnotationQuery {
  const { flagged, label, ratingMax, nodeId } = query;
  const wanted = defined({ flag: flagged ? ("open" as const) : undefined, label, ratingMax, nodeId });
  return { limit: 1, order: "oldest", state: "live", fromMs: fromMs(query), ...wanted };
}

async function findEnded(host: Host, queue: Queue, query: QueueQuery, cursor: QueueCursor): Promise<Found> {
  const { workflowId, agentId, status, nodeId } = query;
  const after = cursor.ended ?? { endedAtMs: fromMs(query), runId: "" };
  const wanted = defined({ after, limit: PAGE_ROWS, workflowId, agentId, status });
  const rows = await host.store.endedRuns(placeOf(queue), wanted);
  const subjects = rows
    .filter(({ runId }) => inSample(query, runId))
    .map(({ runId, workflowId, agentId: first, endedAtMs }) =>
      defined({ runId, nodeId, workflowId, agentId: agentId ?? first, position: endedAtMs }),
    );
  // Without further rows the query is at its end, and steps back from there for late runs.
  const last = rows.at(-1) ?? (after.runId === "" ? undefined : after);
  if (last === undefined) return { subjects, cursor, atEnd: true };
  if (rows.length === PAGE_ROWS) return { subjects, cursor: { ended: placeIn(last) }, atEnd: false };
  const endedAtMs = Math.max(fromMs(query), last.endedAtMs - OVERLAP_MS, host.nowMs() - SETTLED_MS);
  return { subjects, cursor: { ended: { endedAtMs, runId: "" } }, atEnd: true };
}

function placeIn({ endedAtMs, runId }: { readonly endedAtMs: number; readonly runId: string }) {
  return { endedAtMs, runId };
}

async function findAnnotated(host: Host, queue: Queue, query: QueueQuery, cursor: QueueCursor): Promise<Found> {
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
    // Of a run with several agents, the agent of the query, else the first.
    subjects.push({ ...subjectIn(run, query.nodeId, annotation.createdAtMs), ...defined({ agentId: query.agentId }) });
  }
  const place = rows.at(-1)?.place ?? after;
  return { subjects, cursor: { place }, atEnd: isLastPage(rows, PAGE_ROWS) };
}

type JudgedRun = RunIdentity & { readonly status: RunStatus };

/** Reads each run once for all judgments about it: it may be large. */
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
  const { runId, workflowId } = run;
  const [agentId] = agentsOfNode(run, nodeId);
  return defined({ runId, nodeId, workflowId, agentId, position });
}

/** Whether the workflow of a run, as it was then, has a node. */
export async function hasNode(host: Host, run: Pick<RunIdentity, "workflowHash">, nodeId: string): Promise<boolean> {
  return (await host.plans.byHash(run.workflowHash)).graph.node.has(nodeId);
}
