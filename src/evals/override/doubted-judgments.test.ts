import { describe, expect, test } from "vitest";
import { randomOf } from "../../testing/stream-host.ts";
import { judgmentsInDoubt } from "./doubted-judgments.ts";
import { foldOverrides, type ScoreJudgment } from "./fold-overrides.ts";

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

const scoreOf = (judgments: readonly ScoreJudgment[]) =>
  foldOverrides(judgmentsInDoubt(judgments, DOUBTED, GIVEN)).overrides.get("task")?.score ?? 0.5;

describe("a principal whose scores are doubted", () => {
  test("raises no score and hides no low one, whatever was said and withdrawn before", () => {
    for (let seed = 1; seed <= 300; seed++) {
      const below = randomOf(`doubted ${seed}`);
      const one = (n: number, by = PEOPLE[below(PEOPLE.length)] ?? "") =>
        judgment(n, { by, signal: { kind: "rating", rating: 1 + below(5) }, adjudicated: below(6) === 0 });
      const before = Array.from({ length: 1 + below(6) }, (_, n) => one(n));
      const [asks = "", ...madeUp] = PEOPLE.slice(2);
      const said = scoreOf(before);
      expect(scoreOf([...before, one(100, madeUp[below(2)])]), `judges, seed ${seed}`).toBeLessThanOrEqual(said);
      for (const [i, other] of before.entries()) {
        const withdrawn = (retractedBy: string) =>
          before.with(i, { ...other, state: "retracted" as const, retractedBy });
        if (other.by !== asks) expect(scoreOf(withdrawn(asks)), `withdraws, seed ${seed}`).toBeLessThanOrEqual(said);
        if (madeUp.includes(other.by)) expect(scoreOf(withdrawn(other.by)), `own, seed ${seed}`).toBe(said);
      }
    }
  });

  test("who asks replaces what they said themselves, up to what others found", () => {
    const low = { kind: "label", label: "fail" } as const;
    const high = { kind: "label", label: "pass" } as const;
    const others = [judgment(1, { by: "rita", signal: { kind: "rating", rating: 4 } })];
    const own = [judgment(2, { by: "asks", signal: low })];
    expect(scoreOf([...others, ...own])).toBe(0);
    expect(scoreOf([...others, ...own, judgment(3, { by: "asks", signal: high })])).toBe(0.75);
    expect(scoreOf([...own, judgment(3, { by: "asks", signal: high })])).toBe(0.5);
  });
});
