import { describe, expect, test } from "vitest";
import { endsRun } from "../../protocol/events.ts";
import { RandomFamily } from "../../testing/random-family.ts";
import { type Random, randomFrom } from "../../testing/random-workflow.ts";

/** More runs by hand: `ASSAY_TEST_RANDOM_RUNS=100000 npm test -- src/engine/runs/random-runs.test.ts`. */
const RUNS = Number(process.env["ASSAY_TEST_RANDOM_RUNS"] ?? 300);
const FIRST = Number(process.env["ASSAY_TEST_RANDOM_SEED"] ?? 1);

describe("a run of any workflow and those it dispatches, whatever is done to them on their way", () => {
  test(`come to one end each, and their logs alone give their states (${RUNS} of them)`, {
    timeout: RUNS * 200 + 20_000,
  }, async () => {
    const ends = new Map<string, number>();
    const seen = new Map<string, number>();
    for (let seed = FIRST; seed < FIRST + RUNS; seed++) {
      try {
        const family = await live(randomFrom(seed));
        for (const { run, events } of family.logs.values()) {
          ends.set(run.status, (ends.get(run.status) ?? 0) + 1);
          for (const { type } of events) seen.set(type, (seen.get(type) ?? 0) + 1);
        }
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
    // Otherwise the generator no longer makes what this test is for.
    if (RUNS < 100) return;
    expect([...ends.keys()].sort()).toEqual(["cancelled", "completed", "failed"]);
    for (const type of EXPECTED) expect(seen.get(type) ?? 0, type).toBeGreaterThan(3);
  });
});

/** One life: random turns, crashes, waits and commands, then whatever it takes to reach the end. */
async function live(random: Random): Promise<RandomFamily> {
  const family = new RandomFamily(random);
  for (let step = Math.floor(random() * 40); step > 0 && !family.ended; step--) await family.disturb();
  for (let step = 0; step < 3000 && !family.ended; step++) await family.onward();
  if (!family.ended) throw new Error(`they never ended: ${JSON.stringify(family.runs.map(({ nodes }) => nodes))}`);
  for (const { events } of family.logs.values()) {
    expect(events.filter(({ type }) => endsRun(type))).toHaveLength(1);
    expect(endsRun(events.at(-1)?.type ?? "")).toBe(true);
  }
  return family;
}

const EXPECTED = [
  ...["interrupt.requested", "interrupt.resolved", "approval.granted", "approval.rejected", "clarification.resolved"],
  ...["node.dispatched", "assay.child.changed", "assay.child.ended", "run.paused", "assay.loop.entered"],
];
