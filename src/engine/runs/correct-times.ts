import type { EventDraft } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { changeRun } from "../families/family.ts";
import type { Host } from "../host.ts";
import { AHEAD_MAX_MS } from "../worker/steady-clock.ts";

const PAGE = 100;

/** This version is newer than that: a clock that stands before it was never set, and no run is wrong by it. */
const EARLIEST_MS = Date.parse("2026-01-01T00:00:00.000Z");

/**
 * Corrects runs whose last event is more than a day in the future: the clock of the host that wrote it was wrong, and was corrected since.
 * Such a run would sleep until the wrong time comes, for years perhaps. Its times are moved back by as much as its last event is ahead, so
 * that a run which had an hour to sleep when it was written sleeps for an hour from now. Nothing is corrected where it is this host's clock
 * that is behind: gates would expire, and runs wake, as soon as it is set or another host looks. Returns the number of runs.
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
