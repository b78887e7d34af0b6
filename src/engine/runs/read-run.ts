import { defined } from "../../protocol/defined.ts";
import { validationError } from "../../protocol/errors.ts";
import { isId } from "../../protocol/id.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal, type RunStatus } from "../../protocol/runs/run-status.ts";
import type { RunSnapshot } from "../../protocol/runs/snapshot.ts";
import type { RunQuery } from "../../store/port/store.ts";
import { visibleRun } from "../execute.ts";
import { shownRun } from "../gates/shown-gates.ts";
import type { Host } from "../host.ts";
import { ownTurn, pauses } from "../worker/pauses.ts";

export async function readSnapshot(
  host: Host,
  visible: Visibility,
  runId: string,
): Promise<{ snapshot: RunSnapshot; version: number }> {
  const run = await visibleRun(host, visible, runId);
  return { snapshot: await snapshot(host, run), version: run.version };
}

export async function snapshot(host: Host, run: Run): Promise<RunSnapshot> {
  const plan = await host.plans.byHash(run.workflowHash);
  return shownRun(run, plan.sensitivity);
}

/** The present status of children that have not ended according to the run's own log, by run id. */
export async function childStatuses(host: Host, run: Run): Promise<ReadonlyMap<string, RunStatus>> {
  const { tenant } = run.owner;
  const unsure = Object.entries(run.children).filter(([, { status }]) => !isTerminal(status));
  if (unsure.length === 0) return new Map();
  const runIds = unsure.map(([runId]) => runId);
  const found = (await host.store.runOutlines(tenant, runIds)).map(({ runId, status }) => [runId, status] as const);
  const now = new Map(found);
  return new Map(unsure.map(([runId, { status }]) => [runId, now.get(runId) ?? status]));
}

export function withChildStatuses(snapshot: RunSnapshot, statuses: ReadonlyMap<string, RunStatus>): RunSnapshot {
  if (snapshot.childRuns === undefined || statuses.size === 0) return snapshot;
  const childRuns = snapshot.childRuns.map((child) => ({
    ...child,
    status: statuses.get(child.runId) ?? child.status,
  }));
  return { ...snapshot, childRuns };
}

/** Runs that are read at once. */
const AT_ONCE = 50;
/** Characters of a page of runs, at most. */
const PAGE_CHARACTERS = 16_000_000;
/** Characters that are read, and parsed, in one step. */
const CHARACTERS_AT_ONCE = 500_000;

/** Pages of more bytes take room before they are read. */
const LARGE_PAGE = 1_048_576;

type ListQuery = Omit<RunQuery, "before" | "notBefore">;

interface RunPage {
  readonly runs: RunSnapshot[];
  readonly nextCursor?: string;
}

/** A page of runs, newest first; shorter than the limit where runs are large. The cursor is the id of the last run before it. */
export async function listRuns(
  host: Host,
  visible: Visibility,
  query: ListQuery & { cursor?: string },
): Promise<RunPage> {
  const { cursor, ...rest } = query;
  if (cursor !== undefined && !(cursor.startsWith("run-") && isId(cursor))) {
    throw validationError("cursor is not one this host gave out");
  }
  return rest.agentId === undefined && rest.tag === undefined
    ? pageOf(host, visible, rest, cursor)
    : pageOfScan(host, visible, rest, cursor);
}

/** Runs of one scan step: with a database in this process, other requests wait for each step. */
const SCAN_RUNS = 250;
/** Scan steps of one request. */
const SCAN_STEPS = 20;
/** Bytes of states that one scan step reads: tags are only in the states. */
const SCAN_BYTES = 4_000_000;

/** A page by filters without an index. A request examines a bounded number of runs, so the page may be short or empty, with a cursor to continue from. */
async function pageOfScan(host: Host, visible: Visibility, query: ListQuery, cursor?: string): Promise<RunPage> {
  const { agentId: _, tag: __, limit, ...indexed } = query;
  const runs: RunSnapshot[] = [];
  let after = cursor;
  for (let step = 0; step < SCAN_STEPS; step++) {
    await ownTurn();
    const place = defined({ before: after });
    const sizes = await host.store.stateBytes(visible, { ...indexed, ...place, limit: SCAN_RUNS });
    const taken = fitting(sizes, SCAN_BYTES);
    const isLast = taken === sizes.length && taken < SCAN_RUNS;
    const beyond = isLast
      ? undefined
      : await host.store.runIdBeyond(visible, { ...indexed, ...place, limit: taken - 1 });
    const end = defined({ notBefore: beyond });
    const page = await pageOf(host, visible, { ...query, ...end, limit: limit - runs.length }, after);
    runs.push(...page.runs);
    if (page.nextCursor !== undefined) return { runs, nextCursor: page.nextCursor };
    if (beyond === undefined) return { runs };
    if (runs.length >= limit) return { runs, nextCursor: beyond };
    after = beyond;
  }
  return after === undefined ? { runs } : { runs, nextCursor: after };
}

async function pageOf(host: Host, visible: Visibility, rest: ListQuery, cursor?: string): Promise<RunPage> {
  const page: Run[] = [];
  let characters = 0;
  const pause = pauses();
  for (let before = cursor; ; before = page.at(-1)?.runId) {
    const limit = Math.min(AT_ONCE, rest.limit - page.length);
    const place = defined({ before });
    const sizes = await host.store.stateBytes(visible, { ...rest, limit: limit + 1, ...place });
    const taken = fitting(sizes.slice(0, limit), PAGE_CHARACTERS - characters);
    const bytes = sum(sizes.slice(0, taken));
    if (bytes > LARGE_PAGE) await visible.beforeLargeRead?.(bytes);
    const all = taken === sizes.length;
    const found = await readInSteps(host, visible, { ...rest, ...place, limit: all ? limit + 1 : taken }, sizes);
    page.push(...found.slice(0, limit));
    characters += bytes;
    const isLast = all && found.length <= limit;
    if (isLast || page.length >= rest.limit || characters > PAGE_CHARACTERS) {
      const runs: RunSnapshot[] = [];
      for (const run of page) {
        runs.push(await snapshot(host, run));
        await pause();
      }
      const last = page.at(-1);
      return isLast || last === undefined ? { runs } : { runs, nextCursor: last.runId };
    }
  }
}

/** Reads runs of these sizes in steps, with pauses. There may be fewer, or others, by now. */
async function readInSteps(
  host: Host,
  visible: Visibility,
  query: RunQuery,
  sizes: readonly number[],
): Promise<readonly Run[]> {
  const found: Run[] = [];
  while (found.length < query.limit) {
    const left = query.limit - found.length;
    const rest = sizes.slice(found.length);
    const few = fitting(rest, CHARACTERS_AT_ONCE);
    const limit = few === rest.length ? left : Math.min(left, few);
    const last = found.at(-1);
    await ownTurn();
    const runs = await host.store.listRuns(visible, { ...query, ...(last && { before: last.runId }), limit });
    found.push(...runs);
    if (runs.length < limit) return found;
  }
  return found;
}

/** How many of the first sizes are within so many bytes, at least one. */
export function fitting(sizes: readonly number[], bytesMax: number): number {
  let bytes = 0;
  const end = sizes.findIndex((size, index) => {
    bytes += size;
    return index > 0 && bytes > bytesMax;
  });
  return end < 0 ? sizes.length : end;
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}
