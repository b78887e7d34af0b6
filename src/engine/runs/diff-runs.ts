import { AppError } from "../../protocol/errors.ts";
import { MASK, type RunEventDoc } from "../../protocol/events.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import {
  type EventDiff,
  MAX_EVENT_DIFFS,
  type RunDiffResponse,
  type Sides,
  type StateDiff,
} from "../../protocol/runs/fork-api.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { visibleRun } from "../execute.ts";
import type { Host } from "../host.ts";
import { scrubInTurns } from "../secrets/scrub-in-turns.ts";
import { serializeFor } from "../shared/serialize.ts";
import { inTurns, ownTurn, pauses } from "../worker/pauses.ts";
import { roomOf } from "../worker/run-room.ts";
import { diffEvents, diffStates } from "./decide/diff-runs.ts";
import { snapshot } from "./read-run.ts";
import { sizeOf } from "./run-size.ts";

const PAGE = 500;

/** Characters of events in one answer, at most: a single event may be large. */
const MAX_CHARACTERS = 8_000_000;

/** Scrubbing longer values takes a while and is done in steps. */
const LONG_CHARACTERS = 10_000;

/** Compares two runs by their logs and states. */
export function diffRuns(host: Host, caller: Caller, runId: string, against: string): Promise<RunDiffResponse> {
  // One comparison at a time for each tenant: it holds states, snapshots and events of both runs.
  return serializeFor(host.store, `diffs of ${caller.tenant}`, () => differences(host, caller, runId, against));
}

async function differences(host: Host, caller: Caller, runId: string, against: string): Promise<RunDiffResponse> {
  const reader = await withRoomFor(host, caller, [runId, against]);
  const a = await visibleRun(host, reader, runId);
  await ownTurn();
  const b = await other(host, reader, against);
  await ownTurn();
  const { diffs, cut } = await compareLogs(host, a, b);
  const shownA = await snapshot(host, a);
  await ownTurn();
  const stateDiff = await inTurns(diffStates(shownA, await snapshot(host, b)));
  return {
    a: a.runId,
    b: b.runId,
    divergedAtSeq: diffs[0]?.seq ?? null,
    eventDiffs: diffs,
    stateDiff: await shown(host, stateDiff),
    ...(cut || !isTerminal(a.status) || !isTerminal(b.status) ? { truncated: true } : {}),
  };
}

/** The caller with room for both runs. It is taken at once: two comparisons with room for one run each would wait for each other. */
async function withRoomFor(host: Host, caller: Caller, runIds: readonly string[]): Promise<Caller> {
  const room = roomOf(host);
  const sides = await host.store.runOutlines(caller.tenant, [...new Set(runIds)]);
  const bytes = new Map(sides.map(({ runId, stateBytes }) => [runId, stateBytes]));
  const sizes = runIds.map((runId) => room.sizeMost(bytes.get(runId) ?? 0));
  const size = sizes.reduce((sum, one) => sum + one, 0);
  if (size > room.smallBytes * runIds.length) await caller.beforeLargeRead?.(size);
  return { ...caller, beforeLargeRead: async () => {} };
}

/** Within a tenant, a run that the caller may not read is refused as `forbidden`; other runs do not exist. */
async function other(host: Host, caller: Caller, runId: string): Promise<Run> {
  try {
    return await visibleRun(host, caller, runId);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "not_found") throw error;
    if ((await host.store.readRun({ tenant: caller.tenant }, runId)) === undefined) throw error;
    throw new AppError("forbidden", { problem: `This key may not read run ${runId}`, runId });
  }
}

/** Compares two logs up to the versions that were read, a page of each at a time. */
async function compareLogs(host: Host, a: Run, b: Run): Promise<{ diffs: EventDiff[]; cut: boolean }> {
  const diffs: EventDiff[] = [];
  const pause = pauses();
  let characters = 0;
  for (let from = 0, rows = PAGE; from < Math.max(a.version, b.version); from += rows) {
    const as = await page(host, a, from, pause);
    const bs = await page(host, b, from, pause);
    // Where the page of one log was cut for its size, the other page is used up to the same event.
    rows = Math.min(PAGE, as.cut ? as.length : PAGE, bs.cut ? bs.length : PAGE);
    for (let i = 0; i < Math.min(rows, Math.max(as.length, bs.length)); i++) {
      const diff = await inTurns(diffEvents(from + i, as[i], bs[i]), pause);
      if (diff === undefined) continue;
      if (diffs.length === MAX_EVENT_DIFFS || characters > MAX_CHARACTERS) return { diffs, cut: true };
      const size = sizeOf(diff);
      characters += size;
      diffs.push(size > LONG_CHARACTERS ? await scrubInTurns(host.scrubber, diff) : host.scrubber.scrubValue(diff));
    }
    await ownTurn();
  }
  return { diffs, cut: false };
}

interface DocPage extends ReadonlyArray<RunEventDoc> {
  readonly cut?: boolean;
}

async function page(host: Host, { runId, version }: Run, from: number, pause: () => Promise<void>): Promise<DocPage> {
  const limit = Math.min(PAGE, version - from);
  if (limit <= 0) return [];
  const rows = await host.store.readEvents(runId, from, limit);
  const docs: RunEventDoc[] = [];
  for (const { body } of rows) {
    await pause();
    docs.push(JSON.parse(body) as RunEventDoc);
  }
  return Object.assign(docs, { cut: rows.cut === true });
}

/** Values that look like keys are masked, also ids such as `task-7`: clients search state diffs for key prefixes, and only the difference matters. */
async function shown(host: Host, { variables, channels, ...rest }: StateDiff): Promise<StateDiff> {
  return {
    ...rest,
    ...(variables === undefined ? {} : { variables: await shownFields(host, variables) }),
    ...(channels === undefined ? {} : { channels: await shownFields(host, channels) }),
  };
}

type Fields = Readonly<Record<string, Sides>>;

async function shownFields({ scrubber }: Host, fields: Fields): Promise<Record<string, Sides>> {
  const all: [string, Sides][] = [];
  for (const [name, sides] of Object.entries(fields)) {
    const after: [string, unknown][] = [];
    for (const [side, value] of Object.entries(sides)) {
      after.push([side, await inTurns(withoutKeyLike(await scrubInTurns(scrubber, value)))]);
    }
    all.push([name, Object.fromEntries(after)]);
  }
  return Object.fromEntries(all);
}

const PARTS_AT_ONCE = 1_000;

function* withoutKeyLike(value: unknown, parts: { seen: number } = { seen: 0 }): Generator<void, unknown> {
  if (typeof value === "string") return /sk[-_]/i.test(value) ? MASK : value;
  if (typeof value !== "object" || value === null) return value;
  const after: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    after.push([key, yield* withoutKeyLike(item, parts)]);
    if (++parts.seen % PARTS_AT_ONCE === 0) yield;
  }
  return Array.isArray(value) ? after.map(([, item]) => item) : Object.fromEntries(after);
}
