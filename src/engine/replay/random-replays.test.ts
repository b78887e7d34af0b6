import { describe, expect, test } from "vitest";
import { endsRun, type RunEvent } from "../../protocol/events.ts";
import { replayed, told } from "../../testing/forks.ts";
import { RandomFamily } from "../../testing/random-family.ts";
import { RandomLog } from "../../testing/random-log.ts";
import { type Random, randomFrom } from "../../testing/random-workflow.ts";

/** More by hand: `ASSAY_TEST_RANDOM_RUNS=100000 npm test -- src/engine/replay/random-replays.test.ts`. */
const RUNS = Number(process.env["ASSAY_TEST_RANDOM_RUNS"] ?? 200);
const FIRST = Number(process.env["ASSAY_TEST_RANDOM_SEED"] ?? 1);
const SLOW = { timeout: RUNS * 300 + 20_000 };

describe("the replay of a run of any workflow, whatever was done to it on its way", () => {
  test(`says what the run says, event by event, from wherever it begins (${RUNS} families)`, SLOW, async () => {
    const ends = new Set<string>();
    await forEachSeed(async (random) => {
      const family = await disturbed(random);
      for (let step = 0; step < 3000 && !family.ended; step++) await family.onward();
      for (const { plan, events, run: source } of family.logs.values()) {
        const fromSeq = Math.floor(random() * (events.length + 1));
        for (const begin of [0, fromSeq]) {
          const replay = await replayed(family.host, plan, asRead(events), begin);
          expect(told(replay.events)).toEqual(told(asRead(events)));
          expect(replay.run).toMatchObject({ status: source.status, variables: source.variables });
          ends.add(replay.run.status);
        }
      }
    });
    if (RUNS >= 100) expect([...ends].sort()).toEqual(["cancelled", "completed", "failed"]);
  });

  test(`ends by itself when the run has not, and begins as it did (${RUNS} families)`, SLOW, async () => {
    const codes = new Set<string | undefined>();
    await forEachSeed(async (random) => {
      const family = await disturbed(random);
      for (const { plan, events } of family.logs.values()) {
        const replay = await replayed(family.host, plan, asRead(events), 0);
        expect(told(replay.events).slice(0, events.length)).toEqual(told(asRead(events)));
        expect(replay.events.filter(({ type }) => endsRun(type))).toHaveLength(1);
        expect(endsRun(replay.events.at(-1)?.type ?? "")).toBe(true);
        expect(replay.events.filter(({ type }) => type === "replay.diverged")).toEqual([]);
        new RandomLog(plan).append(replay.run, replay.events);
        codes.add(replay.run.error?.code);
      }
    });
    if (RUNS >= 100) expect(codes).toContain("replay_source_missing");
  });
});

async function forEachSeed(live: (random: Random) => Promise<void>): Promise<void> {
  for (let seed = FIRST; seed < FIRST + RUNS; seed++) {
    try {
      await live(randomFrom(seed));
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
}

async function disturbed(random: Random): Promise<RandomFamily> {
  const family = new RandomFamily(random);
  for (let step = Math.floor(random() * 40); step > 0 && !family.ended; step--) await family.disturb();
  return family;
}

/** As another process would read it. */
function asRead(events: readonly RunEvent[]): RunEvent[] {
  return JSON.parse(JSON.stringify(events)) as RunEvent[];
}
