import { describe, expect, test } from "vitest";
import { endsRun, type RunEvent } from "../../protocol/events.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { replayed, told } from "../../testing/forks.ts";
import { RandomFamily } from "../../testing/random-family.ts";
import { RandomLog } from "../../testing/random-log.ts";
import { pick, type Random, randomFrom } from "../../testing/random-workflow.ts";
import type { Host } from "../host.ts";
import type { NodeOutcome, NodeType } from "../worker/node-type.ts";

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
          const expected = repeated(asRead(events), replay.run);
          expect(said(replay.events).slice(0, expected.length)).toEqual(expected);
          ends.add(replay.run.status);
          if (expected.length < events.length) continue;
          expect(replay.events).toHaveLength(events.length);
          expect(replay.run).toMatchObject({ status: source.status, variables: source.variables });
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
        const expected = repeated(asRead(events), replay.run);
        expect(said(replay.events).slice(0, expected.length)).toEqual(expected);
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

describe("the replay of a run of any workflow whose code has changed since", () => {
  test(`comes to an end, and says at most once where it went another way (${RUNS} families)`, SLOW, async () => {
    let differing = 0;
    await forEachSeed(async (random) => {
      const family = await disturbed(random);
      for (let step = 0; step < 3000 && !family.ended && random() < 0.99; step++) await family.onward();
      const changed = withOtherCode(random, family.host);
      for (const { plan, events } of family.logs.values()) {
        const fromSeq = random() < 0.5 ? 0 : Math.floor(random() * events.length);
        const replay = await replayed(changed, plan, asRead(events), fromSeq);
        expect(replay.events.filter(({ type }) => endsRun(type))).toHaveLength(1);
        expect(endsRun(replay.events.at(-1)?.type ?? "")).toBe(true);
        const diverged = replay.events.filter(({ type }) => type === "replay.diverged");
        expect(diverged.length).toBeLessThanOrEqual(1);
        differing += diverged.length;
        new RandomLog(plan).append(replay.run, replay.events);
      }
    });
    if (RUNS >= 100) expect(differing).toBeGreaterThan(RUNS / 10);
  });
});

const CANCELS: ReadonlySet<string> = new Set(["assay.cancel.requested", "node.cancelled", "run.cancelled"]);

/** What a replay repeats of its source: all of it, or all but a cancellation before an effect that was never had. */
function repeated(events: readonly RunEvent[], { error }: Run) {
  const leftOut = events.at(-1)?.type === "run.cancelled" && error?.code === "replay_source_missing";
  return said(leftOut ? events.filter(({ type }) => !CANCELS.has(type)) : events);
}

/** Without sequences, which an event that is left out shifts. */
function said(events: readonly RunEvent[]) {
  return told(events).map(({ sequence: _, ...rest }) => rest);
}

/** One of the node types does something else than it did. */
function withOtherCode(random: Random, host: Host): Host {
  const typeId = pick(random, ["core.noop", "core.identity", "core.delay", "core.fail", "core.channelWrite"]);
  const outcome: NodeOutcome = pick(random, [
    { type: "completed", outputs: { changed: true }, variables: { count: 9 } },
    { type: "failed", error: { code: "changed", message: "no longer" } },
    { type: "failed", error: { code: "changed", message: "not now", retryable: true } },
  ]);
  const before = host.nodeTypes.get(typeId) as NodeType;
  const after = { ...before, execute: () => outcome } as NodeType;
  return { ...host, nodeTypes: new Map([...host.nodeTypes, [typeId, after]]) };
}

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
