import { AppError } from "../protocol/errors.ts";
import { isId } from "../protocol/id.ts";
import type { Visibility } from "../protocol/identity.ts";
import type { Run } from "../protocol/run.ts";
import { isTerminal, type RunStatus } from "../protocol/run-status.ts";
import { type RunSnapshot, snapshotOf } from "../protocol/snapshot.ts";
import type { RunQuery } from "../store/store.ts";
import { visibleRun } from "./execute.ts";
import type { Host } from "./host.ts";

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

/** A page of runs, newest first. A cursor is the id of the last run of the page before. */
export async function listRuns(
  host: Host,
  visible: Visibility,
  query: Omit<RunQuery, "before"> & { cursor?: string },
): Promise<{ runs: RunSnapshot[]; nextCursor?: string }> {
  const { cursor, ...rest } = query;
  if (cursor !== undefined && !(cursor.startsWith("run-") && isId(cursor))) {
    throw new AppError("validation_error", { problem: "cursor is not one this host gave out" });
  }
  const before = cursor === undefined ? {} : { before: cursor };
  const found = await host.store.listRuns(visible, { ...rest, limit: rest.limit + 1, ...before });
  const page = found.slice(0, rest.limit);
  const runs = await Promise.all(page.map((run) => snapshot(host, run)));
  const last = page.at(-1);
  return found.length > rest.limit && last ? { runs, nextCursor: last.runId } : { runs };
}
