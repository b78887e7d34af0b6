import { expect } from "vitest";
import { wakeAtMs } from "../protocol/runs/due-times.ts";
import { fold } from "../protocol/runs/run.ts";
import { isTerminal } from "../protocol/runs/run-status.ts";
import type { Store } from "../store/port/store.ts";
import { tallyRows } from "../store/rows/feedback-tallies.ts";
import { allRows } from "../store/rows/interrupt-rows.ts";
import { runFacts } from "../store/rows/run-rows.ts";
import { eventually } from "./eventually.ts";
import { eventsOf } from "./store-contract/subject.ts";

/** Everything derived from the logs is what the logs say: every run row, every interrupt, every vote. And what is counted of annotations. */
export async function expectAllRebuilt(store: Store): Promise<void> {
  let after = "";
  for (let page = await store.allRunIds(after, 100); page.length > 0; page = await store.allRunIds(after, 100)) {
    for (const runId of page) {
      await expectRebuilt(store, runId);
    }
    after = page.at(-1) ?? "";
  }
  // A worker that was stopped may still finish a turn between the two.
  await eventually(async () => expect(await countedRuns(store)).toEqual(await activeRuns(store)));
}

async function countedRuns(store: Store): Promise<Record<string, number>> {
  const counted = Object.entries((await store.countedRuns()).active).filter(([, runs]) => runs !== 0);
  return Object.fromEntries(counted);
}

async function activeRuns(store: Store): Promise<Record<string, number>> {
  const active: Record<string, number> = {};
  let after = "";
  for (let page = await store.allRunIds(after, 100); page.length > 0; page = await store.allRunIds(after, 100)) {
    for (const runId of page) {
      const row = await store.runRow(runId);
      if (row !== undefined && !isTerminal(row.status)) active[row.tenant] = (active[row.tenant] ?? 0) + 1;
    }
    after = page.at(-1) ?? "";
  }
  return active;
}

export async function expectRebuilt(store: Store, runId: string): Promise<void> {
  const events = await eventsOf(store, runId);
  expect(events.map(({ sequence }) => sequence)).toEqual([...events.keys()]);
  const run = fold(events);
  if (run === undefined) throw new Error(`run ${runId} has no events`);
  const row = await store.runRow(runId);
  expect(row?.state).toEqual(JSON.parse(JSON.stringify(run)));
  const { agent_id, intervened } = runFacts(run);
  expect({ ...row, state: undefined }).toMatchObject({
    status: run.status,
    version: run.version,
    wakeAtMs: wakeAtMs(run) ?? null,
    agentId: agent_id,
    intervened: intervened === 1,
  });
  expect(await store.interruptRows(runId)).toEqual(allRows(run));
  const annotations = await store.annotationsOfRun(runId, undefined, 100_000);
  expect(await store.feedbackRows(runId)).toEqual(tallyRows(annotations));
}
