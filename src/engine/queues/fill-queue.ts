import { perObject } from "../../protocol/per-object.ts";
import type { QueueQuery } from "../../protocol/queues/api.ts";
import type { Store } from "../../store/port/store.ts";
import type { Host } from "../host.ts";
import { type Sweep, type SweepSettings, startSweep } from "../shared/sweep.ts";
import { type Found, findSubjects, hasNode, OVERLAP_MS, PAGE_ROWS } from "./find-subjects.ts";
import {
  bodyOf,
  newItem,
  nextRecord,
  placeOf,
  type Queue,
  type QueueCursor,
  queueOf,
  type Subject,
  subjectOf,
} from "./queue-records.ts";

/** Pages of subjects that one request takes in; the next request continues. */
const PAGES = 5;

interface Filled {
  readonly queue: Queue;
  /** Whether there is more to take in. */
  readonly more: boolean;
}

/** Takes in the subjects that the query of a queue finds since the last time. Any number of processes may do so at once. */
export async function fillQueue(host: Host, start: Queue): Promise<Filled> {
  let queue = start;
  let { cursor } = queue;
  for (let page = 0; page < PAGES; page++) {
    const { query } = queue.rules;
    if (query === undefined || queue.state === "closed") return { queue, more: false };
    const found = await findSubjects(host, queue, query, cursor);
    const fresh = await withNode(host, queue, query, unseen(host.store, queue, found.subjects));
    const leavesOff = !found.atEnd && page === PAGES - 1;
    if (fresh.length > 0 || leavesOff || farBehind(queue.cursor, found.cursor) || goesBack(queue, found)) {
      const filled = await write(host, queue, fresh, found.cursor);
      // The queue was filled or its rules were changed elsewhere: its cursor is then the one to continue from.
      const now = filled ?? (await reread(host, queue));
      if (now === undefined) return { queue, more: false };
      queue = now;
      cursor = queue.cursor;
      if (filled === undefined) continue;
    } else {
      cursor = found.cursor;
    }
    remember(host.store, queue, fresh);
    if (found.atEnd) return { queue, more: false };
  }
  return { queue, more: true };
}

/** Whether a cursor has moved far enough to be written; otherwise a few rows are read twice. */
function farBehind(before: QueueCursor, after: QueueCursor): boolean {
  const ended = (after.ended?.endedAtMs ?? 0) - (before.ended?.endedAtMs ?? 0);
  return ended > OVERLAP_MS || (after.place?.seq ?? 0) - (before.place?.seq ?? 0) > PAGE_ROWS / 4;
}

/** Whether the query is at its end and steps back for late runs; without a write of the cursor these would be skipped. */
function goesBack({ cursor: { ended } }: Queue, { cursor }: Found): boolean {
  return ended !== undefined && cursor.ended !== undefined && cursor.ended.endedAtMs < ended.endedAtMs;
}

async function write(
  host: Host,
  queue: Queue,
  subjects: readonly Subject[],
  cursor: QueueCursor,
): Promise<Queue | undefined> {
  const record = nextRecord(queue, { ...bodyOf(queue), cursor });
  const items = subjects.map((subject) => newItem(host, queue, subject));
  const { tenant } = queue.record;
  const fill = items.length === 0 ? [] : [{ type: "fill" as const, items }];
  const committed = await host.store.commit({ tenant, queues: [{ type: "queue", queue: record }, ...fill] });
  return committed.ok ? queueOf(record) : undefined;
}

async function reread({ store }: Host, queue: Queue): Promise<Queue | undefined> {
  const found = await store.readQueue(placeOf(queue), queue.record.queueId);
  return found && queueOf(found);
}

async function withNode(host: Host, queue: Queue, query: QueueQuery, subjects: readonly Subject[]): Promise<Subject[]> {
  const { nodeId } = query;
  if (nodeId === undefined) return [...subjects];
  const kept: Subject[] = [];
  for (const subject of subjects) {
    const run = await host.store.readRun(placeOf(queue), subject.runId);
    if (run !== undefined && (await hasNode(host, run, nodeId))) kept.push(subject);
  }
  return kept;
}

/** The subjects that this process has put into queues lately, so that finding them again in the overlap costs no write. */
const queuesOf = perObject((_store: Store) => new Map<string, Set<string>>());
const KNOWN_MAX = 20_000;
const QUEUES_MAX = 50;

function knownOf(store: Store, { record: { queueId } }: Queue): Set<string> {
  const queues = queuesOf(store);
  if (queues.size > QUEUES_MAX) queues.clear();
  const known = queues.get(queueId) ?? new Set<string>();
  if (known.size > KNOWN_MAX) known.clear();
  queues.set(queueId, known);
  return known;
}

function unseen(store: Store, queue: Queue, subjects: readonly Subject[]): Subject[] {
  const known = knownOf(store, queue);
  const bySubject = new Map(subjects.map((subject) => [subjectOf(subject), subject]));
  return [...bySubject].filter(([name]) => !known.has(name)).map(([, subject]) => subject);
}

function remember(store: Store, queue: Queue, subjects: readonly Subject[]): void {
  const known = knownOf(store, queue);
  for (const subject of subjects) known.add(subjectOf(subject));
}

const QUEUES_AT_ONCE = 100;

/** Fills all queues from time to time, so that the first reviewer of a queue need not wait for that. */
export function sweepQueues(host: Host, settings: SweepSettings): Sweep {
  const task = async (isStopping: () => boolean): Promise<void> => {
    for (let after: string | undefined = ""; after !== undefined && !isStopping(); ) {
      const page = await host.store.queuesAfter(after, QUEUES_AT_ONCE);
      for (const record of page) if (!isStopping()) await fillQueue(host, queueOf(record)).catch(settings.onError);
      after = page.length < QUEUES_AT_ONCE ? undefined : page.at(-1)?.queueId;
    }
  };
  return startSweep(settings, task, { delayed: true });
}
