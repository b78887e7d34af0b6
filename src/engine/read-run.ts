import { AppError } from "../protocol/errors.ts";
import { isId } from "../protocol/id.ts";
import type { Visibility } from "../protocol/identity.ts";
import type { Run } from "../protocol/run.ts";
import { isTerminal, type RunStatus } from "../protocol/run-status.ts";
import { type RunSnapshot, snapshotOf } from "../protocol/snapshot.ts";
import type { RunQuery } from "../store/store.ts";
import { visibleRun } from "./execute.ts";
import type { Host } from "./host.ts";
import { sizeOf } from "./run-size.ts";

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
  return snapshotOf(run, plan.sensitivity);
}

/** What the children of a run are now that had not ended as far as its own log knows, by run id. */
export async function childStatuses(host: Host, run: Run): Promise<ReadonlyMap<string, RunStatus>> {
  const { tenant } = run.owner;
  const unsure = Object.entries(run.children).filter(([, { status }]) => !isTerminal(status));
  const read = unsure.map(async ([runId, { status }]) => {
    const child = await host.store.readRun({ tenant }, runId);
    return [runId, child?.status ?? status] as const;
  });
  return new Map(await Promise.all(read));
}

export function withChildStatuses(snapshot: RunSnapshot, statuses: ReadonlyMap<string, RunStatus>): RunSnapshot {
  if (snapshot.childRuns === undefined || statuses.size === 0) return snapshot;
  const childRuns = snapshot.childRuns.map((child) => ({
    ...child,
    status: statuses.get(child.runId) ?? child.status,
  }));
  return { ...snapshot, childRuns };
}

/** So many runs are read at once, and so many characters of them make a page: one run may be as large as many. */
const AT_ONCE = 50;
const PAGE_CHARACTERS = 16_000_000;

/** A page of runs, newest first, shorter than asked for where they are large. A cursor is the id of the last one before. */
export async function listRuns(
  host: Host,
  visible: Visibility,
  query: Omit<RunQuery, "before"> & { cursor?: string },
): Promise<{ runs: RunSnapshot[]; nextCursor?: string }> {
  const { cursor, ...rest } = query;
  if (cursor !== undefined && !(cursor.startsWith("run-") && isId(cursor))) {
    throw new AppError("validation_error", { problem: "cursor is not one this host gave out" });
  }
  const page: Run[] = [];
  let characters = 0;
  for (let before = cursor; ; before = page.at(-1)?.runId) {
    const limit = Math.min(AT_ONCE, rest.limit - page.length);
    const place = before === undefined ? {} : { before };
    const found = await host.store.listRuns(visible, { ...rest, limit: limit + 1, ...place });
    for (const run of found.slice(0, limit)) {
      if (page.length > 0 && characters > PAGE_CHARACTERS) break;
      page.push(run);
      characters += sizeOf(run);
    }
    const isLast = found.length <= limit && page.at(-1)?.runId === found.at(-1)?.runId;
    if (isLast || page.length >= rest.limit || characters > PAGE_CHARACTERS) {
      const runs = await Promise.all(page.map((run) => snapshot(host, run)));
      const last = page.at(-1);
      return isLast || last === undefined ? { runs } : { runs, nextCursor: last.runId };
    }
  }
}
