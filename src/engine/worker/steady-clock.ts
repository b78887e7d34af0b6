import type { EventDraft } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { changeRun } from "../families/family.ts";
import type { Host } from "../host.ts";

/** The speed of the clock while the wall clock is behind it: slow enough for the wall clock to catch up, fast enough for timers. */
const CATCH_UP_RATE = 0.9;

/**
 * How far a starting host goes ahead of its wall clock to be no earlier than the recorded times. Clocks are set back by less, confused time
 * zones included. A larger difference means that the clock of an earlier host was wrong: then the records are corrected.
 */
const AHEAD_MAX_MS = 24 * 3_600_000;

export interface SteadyClock {
  (): number;
  /** Goes ahead to this time, unless the time is past or more than a day ahead of the wall clock. */
  notBefore(recordedMs: number): void;
}

/**
 * The time of the host: the wall clock, except that it never goes back. A wall clock that is set forward is followed at once.
 * When it is set back, the time continues a tenth slower until the wall clock has caught up: sleeping runs, leases and deadlines
 * end about when they should, and expired ones stay expired.
 */
export function steadyClock(wallMs: () => number, elapsedMs: () => number): SteadyClock {
  let lastMs = wallMs();
  let lastElapsed = elapsedMs();
  const now = (): number => {
    const elapsed = elapsedMs();
    const ownMs = lastMs + Math.max(0, elapsed - lastElapsed) * CATCH_UP_RATE;
    lastMs = Math.max(wallMs(), ownMs);
    lastElapsed = elapsed;
    return Math.floor(lastMs);
  };
  const notBefore = (recordedMs: number): void => {
    if (recordedMs > now() && recordedMs - wallMs() <= AHEAD_MAX_MS) lastMs = recordedMs;
  };
  return Object.assign(now, { notBefore });
}

const PAGE = 100;

/** This version is newer than that. A clock that shows an earlier time was never set, and no run is wrong by it. */
const EARLIEST_MS = Date.parse("2026-01-01T00:00:00.000Z");

/**
 * Corrects runs whose last event is more than a day in the future: the clock of the host that wrote it was wrong. Such a run would sleep
 * until the wrong time, perhaps for years. Its times are moved back by as much as its last event is ahead, so a run with an hour left to
 * sleep sleeps for an hour from now. Nothing is corrected where the clock of this host was never set: gates would expire, and runs wake, as
 * soon as the clock is set. Returns the number of runs.
 */
export async function correctTimes(host: Host): Promise<number> {
  let corrected = 0;
  if (host.nowMs() < EARLIEST_MS) return corrected;
  for (let after = ""; ; ) {
    const nowMs = host.nowMs();
    const page = await host.store.runsAhead({ ofMs: nowMs + AHEAD_MAX_MS, after, limit: PAGE });
    for (const { runId, tenant } of page) {
      const run = await host.store.readRun({ tenant }, runId);
      if (run === undefined) continue;
      await changeRun(host, run, (now) => correction(now, nowMs), { lease: "release" });
      corrected += 1;
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return corrected;
    after = last.runId;
  }
}

function correction(run: Run, nowMs: number): EventDraft[] {
  const byMs = Date.parse(run.updatedAt) - nowMs;
  if (isTerminal(run.status) || byMs <= AHEAD_MAX_MS) return [];
  return [{ type: "assay.times.corrected", payload: { byMs, writtenAt: run.updatedAt } }];
}
