import { describe, expect, test } from "vitest";
import type { ActorKind, AnnotationState, Signal } from "../../protocol/judgments/annotation.ts";
import { randomOf } from "../../testing/stream-host.ts";
import { type FoldedOverrides, foldOverrides, judgmentsInDoubt, type ScoreJudgment } from "./fold-overrides.ts";

let made = 0;

function said(signal: Signal, more: Partial<ScoreJudgment> = {}): ScoreJudgment {
  made += 1;
  return {
    taskId: "task",
    eventId: "evt-1",
    annotationId: `ann-${String(made).padStart(6, "0")}`,
    by: "ada",
    actorKind: "person",
    atMs: made,
    state: "live",
    signal,
    closed: false,
    adjudicated: false,
    imported: false,
    ...more,
  };
}

const PASS: Signal = { kind: "label", label: "pass" };
const FAIL: Signal = { kind: "label", label: "fail" };
const FLAG: Signal = { kind: "flag" };
const CORRECTION: Signal = { kind: "correction", correction: "Wien" };
const rated = (rating: number): Signal => ({ kind: "rating", rating });

const scoreOf = (...judgments: ScoreJudgment[]) => foldOverrides(judgments).overrides.get("task")?.score;
const isDisputed = (...judgments: ScoreJudgment[]) => foldOverrides(judgments).disputes.has("task");

describe("what people say about the score of a task", () => {
  test("is 1 for pass and 0 for fail", () => {
    expect(scoreOf(said(PASS))).toBe(1);
    expect(scoreOf(said(FAIL))).toBe(0);
  });
  test("is a quarter for each step of a rating above the first", () => {
    expect([1, 2, 3, 4, 5].map((rating) => scoreOf(said(rated(rating))))).toEqual([0, 0.25, 0.5, 0.75, 1]);
  });
  test("is no score for any other label, whatever else it carries", () => {
    expect(scoreOf(said({ kind: "label", label: "Pass" }))).toBeUndefined();
    expect(scoreOf(said({ kind: "label", label: "polite", rating: 5 }))).toBeUndefined();
  });
  test("counts by the newest, in whatever order it comes", () => {
    const [old, later] = [said(PASS, { atMs: 1 }), said(rated(2), { atMs: 2, by: "ben" })];
    expect(scoreOf(old, later)).toBe(0.25);
    expect(scoreOf(later, old)).toBe(0.25);
  });
  test("counts by the later id where the time is the same", () => {
    const [old, later] = [said(PASS, { atMs: 1 }), said(FAIL, { atMs: 1 })];
    expect([scoreOf(old, later), scoreOf(later, old)]).toEqual([0, 0]);
  });
  test("counts before all others where it was adjudicated, also before what is newer", () => {
    const adjudicated = said(FAIL, { atMs: 1, adjudicated: true });
    expect(scoreOf(adjudicated, said(PASS, { atMs: 9 }))).toBe(0);
    expect(scoreOf(adjudicated, said(PASS, { atMs: 2, adjudicated: true }))).toBe(1);
  });
  test.each(["retracted", "superseded"] as const)("counts no more when it is %s", (state) => {
    const gone = said(FAIL, { atMs: 9, state, adjudicated: true });
    expect(scoreOf(gone)).toBeUndefined();
    expect(scoreOf(said(PASS, { atMs: 1 }), gone)).toBe(1);
    expect(isDisputed(said(FLAG, { state }))).toBe(false);
  });
  test.each(["agent", "code"] as const)("is nothing that an actor of the kind %s can say", (actorKind) => {
    expect(scoreOf(said(FAIL, { actorKind, adjudicated: true }))).toBeUndefined();
    expect(isDisputed(said(CORRECTION, { actorKind }))).toBe(false);
  });
  test("makes a task disputed with a correction or a flag, and changes no score by it", () => {
    expect(isDisputed(said(CORRECTION))).toBe(true);
    expect(isDisputed(said(FLAG))).toBe(true);
    expect(scoreOf(said(FLAG), said(CORRECTION))).toBeUndefined();
    expect(scoreOf(said(PASS), said(FLAG), said(CORRECTION))).toBe(1);
    expect(isDisputed(said(PASS))).toBe(false);
  });
  test("is settled where it was a flag that somebody closed", () => {
    expect(isDisputed(said(FLAG, { closed: true }))).toBe(false);
  });
  test("keeps its history, newest first, with what counts no more", () => {
    const all = [
      said(PASS, { state: "retracted" }),
      said(CORRECTION),
      said(rated(3), { state: "superseded" }),
      said(FAIL),
    ];
    const history = foldOverrides(all)
      .overrides.get("task")
      ?.history.map(({ score, judgment }) => [score, judgment.state]);
    expect(history).toEqual([
      [0, "live"],
      [0.5, "superseded"],
      [1, "retracted"],
    ]);
  });
});

/** The rules once more, one judgment at a time and without a sort. */
function byHand(judgments: readonly ScoreJudgment[], taskId: string): { score?: number; disputed: boolean } {
  let best: ScoreJudgment | undefined;
  let disputed = false;
  for (const one of judgments) {
    if (one.taskId !== taskId || one.actorKind !== "person" || one.state !== "live" || one.imported) continue;
    const { kind, label = "" } = one.signal;
    if (kind === "correction" || (kind === "flag" && !one.closed)) disputed = true;
    if (kind !== "rating" && !(kind === "label" && ["pass", "fail"].includes(label))) continue;
    if (best === undefined || rankOf(one) > rankOf(best)) best = one;
  }
  if (best === undefined) return { disputed };
  const { kind, label, rating = 0 } = best.signal;
  return { score: kind === "rating" ? rating / 4 - 0.25 : Number(label === "pass"), disputed };
}

function rankOf({ adjudicated, atMs, annotationId }: ScoreJudgment): string {
  return `${adjudicated ? 1 : 0} ${atMs} ${annotationId}`;
}

describe("any judgments", () => {
  const SIGNALS: readonly Signal[] = [
    PASS,
    FAIL,
    FLAG,
    CORRECTION,
    { kind: "label", label: "odd" },
    ...[1, 2, 3, 4, 5].map(rated),
  ];
  const KINDS: readonly ActorKind[] = ["person", "person", "person", "agent", "code"];
  const STATES: readonly AnnotationState[] = ["live", "live", "superseded", "retracted"];
  const TASKS = ["a", "b", "c"];

  const drawn = (seed: number): ScoreJudgment[] => {
    const below = randomOf(`overrides ${seed}`);
    const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
    return Array.from({ length: below(12) }, () =>
      said(pick(SIGNALS), {
        taskId: pick(TASKS),
        actorKind: pick(KINDS),
        state: pick(STATES),
        atMs: below(5),
        closed: below(10) < 3,
        adjudicated: below(10) < 2,
        imported: below(10) < 2,
      }),
    );
  };
  const summed = ({ overrides, disputes }: FoldedOverrides) =>
    TASKS.map((task) => [overrides.get(task)?.score, overrides.get(task)?.judgment.annotationId, disputes.has(task)]);

  test("come to what the rules say one by one, in any order", () => {
    for (let seed = 1; seed <= 500; seed++) {
      const judgments = drawn(seed);
      const folded = foldOverrides(judgments);
      for (const task of TASKS) {
        const { score, disputed } = byHand(judgments, task);
        expect([folded.overrides.get(task)?.score, folded.disputes.has(task)], `seed ${seed}`).toEqual([
          score,
          disputed,
        ]);
      }
      expect(summed(foldOverrides([...judgments].reverse()))).toEqual(summed(folded));
    }
  });

  test("mean the same without all that counts no more and all that no person said", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const judgments = drawn(seed);
      const counting = judgments.filter(
        ({ actorKind, state, imported }) => actorKind === "person" && state === "live" && !imported,
      );
      expect(summed(foldOverrides(counting)), `seed ${seed}`).toEqual(summed(foldOverrides(judgments)));
    }
  });
});

const DOUBTED = { interested: ["asks"], unconfirmed: ["made-up", "made-up-too"] };
const PEOPLE = ["rita", "olga", ...DOUBTED.interested, ...DOUBTED.unconfirmed];
const GIVEN = new Map([["task", 0.5]]);

const judgment = (n: number, more: Partial<ScoreJudgment>): ScoreJudgment => ({
  taskId: "task",
  eventId: "evt-1",
  annotationId: `ann-${String(n).padStart(4, "0")}`,
  by: "rita",
  actorKind: "person",
  atMs: n,
  state: "live",
  signal: { kind: "rating", rating: 3 },
  closed: false,
  adjudicated: false,
  imported: false,
  ...more,
});

const lowestScore = (judgments: readonly ScoreJudgment[]) =>
  foldOverrides(judgmentsInDoubt(judgments, DOUBTED, GIVEN)).overrides.get("task")?.score ?? 0.5;

describe("a principal whose scores are doubted", () => {
  test("raises no score and hides no low one, whatever was said and withdrawn before", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const below = randomOf(`doubted ${seed}`);
      const one = (n: number, by = PEOPLE[below(PEOPLE.length)] ?? "") =>
        judgment(n, { by, signal: { kind: "rating", rating: 1 + below(5) }, adjudicated: below(6) === 0 });
      const before = Array.from({ length: 1 + below(6) }, (_, n) => one(n));
      const [asks = "", ...madeUp] = PEOPLE.slice(2);
      const said = lowestScore(before);
      expect(lowestScore([...before, one(100, madeUp[below(2)])]), `judges, seed ${seed}`).toBeLessThanOrEqual(said);
      for (const [i, other] of before.entries()) {
        const withdrawn = (retractedBy: string) =>
          before.with(i, { ...other, state: "retracted" as const, retractedBy });
        if (other.by !== asks)
          expect(lowestScore(withdrawn(asks)), `withdraws, seed ${seed}`).toBeLessThanOrEqual(said);
        if (madeUp.includes(other.by)) expect(lowestScore(withdrawn(other.by)), `own, seed ${seed}`).toBe(said);
      }
    }
  });

  test("who asks replaces what they said themselves, up to what others found", () => {
    const low = { kind: "label", label: "fail" } as const;
    const high = { kind: "label", label: "pass" } as const;
    const others = [judgment(1, { by: "rita", signal: { kind: "rating", rating: 4 } })];
    const own = [judgment(2, { by: "asks", signal: low })];
    expect(lowestScore([...others, ...own])).toBe(0);
    expect(lowestScore([...others, ...own, judgment(3, { by: "asks", signal: high })])).toBe(0.75);
    expect(lowestScore([...own, judgment(3, { by: "asks", signal: high })])).toBe(0.5);
  });
});
