import { setImmediate as nextTurn } from "node:timers/promises";
import { AppError } from "../protocol/errors.ts";
import { MASK, type RunEventDoc } from "../protocol/events.ts";
import { type EventDiff, MAX_EVENT_DIFFS, type RunDiffResponse } from "../protocol/fork-api.ts";
import type { Caller } from "../protocol/identity.ts";
import type { Run } from "../protocol/run.ts";
import { isTerminal } from "../protocol/run-status.ts";
import { diffEvents, diffStates } from "./decide/diff-runs.ts";
import { visibleRun } from "./execute.ts";
import type { Host } from "./host.ts";
import { snapshot } from "./read-run.ts";
import { sizeOf } from "./run-size.ts";

const PAGE = 500;

/** So many characters of events make an answer: a single event may be as large as many. */
const MAX_CHARACTERS = 8_000_000;

/** What is longer takes a while to clean; others wait for it. */
const LONG_CHARACTERS = 10_000;

/** A function of two logs and of nothing else, as far as they are at this moment. */
export async function diffRuns(host: Host, caller: Caller, a: Run, against: string): Promise<RunDiffResponse> {
  const b = await other(host, caller, against);
  const { diffs, cut } = await compareLogs(host, a, b);
  const stateDiff = diffStates(await snapshot(host, a), await snapshot(host, b), (value) => shown(host, value));
  return {
    a: a.runId,
    b: b.runId,
    divergedAtSeq: diffs[0]?.seq ?? null,
    eventDiffs: diffs,
    stateDiff,
    ...(cut || !isTerminal(a.status) || !isTerminal(b.status) ? { truncated: true } : {}),
  };
}

/** Inside a tenant it is no secret that a run is there; outside it does not exist. */
async function other(host: Host, caller: Caller, runId: string): Promise<Run> {
  try {
    return await visibleRun(host, caller, runId);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "not_found") throw error;
    if ((await host.store.readRun({ tenant: caller.tenant }, runId)) === undefined) throw error;
    throw new AppError("forbidden", { problem: `This key may not read run ${runId}`, runId });
  }
}

/** Only as much of either as was there when they were read, a page of each at a time. */
async function compareLogs(host: Host, a: Run, b: Run): Promise<{ diffs: EventDiff[]; cut: boolean }> {
  const diffs: EventDiff[] = [];
  let characters = 0;
  for (let from = 0, rows = PAGE; from < Math.max(a.version, b.version); from += rows) {
    const [as, bs] = await Promise.all([page(host, a, from), page(host, b, from)]);
    // Where the page of one log was cut for its size, the other is compared no further either.
    rows = Math.min(PAGE, as.cut ? as.length : PAGE, bs.cut ? bs.length : PAGE);
    for (let i = 0; i < Math.min(rows, Math.max(as.length, bs.length)); i++) {
      const diff = diffEvents(from + i, as[i], bs[i]);
      if (diff === undefined) continue;
      if (diffs.length === MAX_EVENT_DIFFS || characters > MAX_CHARACTERS) return { diffs, cut: true };
      characters += sizeOf(diff);
      diffs.push(host.scrubber.scrubValue(diff));
      if (sizeOf(diff) > LONG_CHARACTERS) await nextTurn();
    }
    await nextTurn();
  }
  return { diffs, cut: false };
}

interface DocPage extends ReadonlyArray<RunEventDoc> {
  readonly cut?: boolean;
}

async function page(host: Host, { runId, version }: Run, from: number): Promise<DocPage> {
  const limit = Math.min(PAGE, version - from);
  if (limit <= 0) return [];
  const rows = await host.store.readEvents(runId, from, limit);
  const docs = rows.map(({ body }) => JSON.parse(body) as RunEventDoc);
  return Object.assign(docs, { cut: rows.cut === true });
}

/**
 * Readers look through the states of two runs for what begins like a key, and an id such as `task-7` reads like one to
 * them. What it is does not matter here; that it differs does.
 */
function shown({ scrubber }: Host, value: unknown): unknown {
  return withoutKeyLike(scrubber.scrubValue(value));
}

function withoutKeyLike(value: unknown): unknown {
  if (typeof value === "string") return /sk[-_]/i.test(value) ? MASK : value;
  if (Array.isArray(value)) return value.map(withoutKeyLike);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutKeyLike(item)]));
}
