import { describe, expect, test } from "vitest";
import { AppError } from "../../../protocol/errors.ts";
import type { JudgmentValue } from "../../../protocol/queues/api.ts";
import {
  adjudicateItem,
  closeItem,
  earlierJudgments,
  judgeItem,
  leaseItem,
  releaseItem,
  requeueItem,
  skipItem,
} from "./change-item.ts";
import type { QueueItem } from "./item.ts";
import { newRules } from "./rules.ts";

const RULES = newRules({ name: "q", judgment: { kind: "rating" }, reviewersRequired: 2 });
const OPEN_EYED = { ...RULES, blind: false };

function fresh(required = 2): QueueItem {
  return { itemId: "itm-1", state: "open", required, round: 1, reviews: [], past: [] };
}

function judged(item: QueueItem, reviewer: string, value: JudgmentValue, atMs = 0, rules = RULES): QueueItem {
  const judgment = { kind: "person", value, annotationIds: [`${reviewer}-${item.round}`] } as const;
  return judgeItem(item, rules, { reviewer, atMs, judgment, revise: false });
}

function revised(item: QueueItem, reviewer: string, value: JudgmentValue, rules = OPEN_EYED): QueueItem {
  const judgment = { kind: "person", value, annotationIds: ["revised"] } as const;
  return judgeItem(item, rules, { reviewer, atMs: 9, judgment, revise: true });
}

function leased(item: QueueItem, reviewer: string, atMs: number, untilMs: number): QueueItem {
  return leaseItem(item, { reviewer, atMs }, untilMs);
}

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
  return "taken";
}

describe("an item that two reviewers are to judge", () => {
  test("has places for two, and a lease keeps one until it ends", () => {
    const full = leased(leased(fresh(), "ana", 0, 100), "ben", 0, 50);
    expect(codeOf(() => leased(full, "cho", 49, 90))).toBe("queue_slot_taken");
    expect(codeOf(() => judged(full, "cho", 3, 49))).toBe("queue_slot_taken");
    const later = leased(full, "cho", 50, 90);
    expect(later.reviews.map(({ reviewer }) => reviewer)).toEqual(["ana", "cho"]);
    expect(codeOf(() => judged(later, "ben", 3, 51))).toBe("queue_slot_taken");
  });

  test("is judged by a holder whose lease has ended while the place is free", () => {
    expect(judged(leased(fresh(), "ana", 0, 10), "ana", 3, 999).reviews).toMatchObject([{ status: "judged" }]);
  });

  test("is judged without a lease where there is a place", () => {
    expect(judged(leased(fresh(), "ana", 0, 10), "ben", 3, 5).reviews).toHaveLength(2);
  });

  test("is done when both say the same, and disputed when they do not", () => {
    const one = judged(fresh(), "ana", 3);
    expect(one.state).toBe("open");
    expect(judged(one, "ben", 3, 7)).toMatchObject({ state: "done", final: { value: 3, how: "agreed", atMs: 7 } });
    const disputed = judged(one, "ben", 4);
    expect(disputed.state).toBe("disputed");
    expect(disputed).not.toHaveProperty("final");
    expect(codeOf(() => judged(disputed, "cho", 4))).toBe("queue_slot_taken");
  });

  test("is done where ratings differ by no more than the queue puts up with, and then ends in the middle", () => {
    const lenient = { ...RULES, maxSpread: 1 };
    const all = (...values: number[]) =>
      values.reduce((item, value, i) => judged(item, `r${i}`, value, 0, lenient), fresh(values.length));
    expect(all(4, 3)).toMatchObject({ state: "done", final: { value: 3 } });
    expect(all(4, 3, 4)).toMatchObject({ state: "done", final: { value: 4 } });
    expect(all(2, 3, 4).state).toBe("disputed");
  });

  test("takes yes and no, and labels, as they are", () => {
    expect(judged(judged(fresh(), "ana", true), "ben", false).state).toBe("disputed");
    expect(judged(judged(fresh(), "ana", "pass"), "ben", "pass")).toMatchObject({ final: { value: "pass" } });
  });

  test("forgets leases once it is settled", () => {
    const item = leased(judged(leased(fresh(), "ben", 0, 10), "ana", 1, 1), "cho", 20, 90);
    expect(judged(item, "cho", 1, 30).reviews.every(({ status }) => status === "judged")).toBe(true);
  });

  test("is judged once by each reviewer", () => {
    const one = judged(fresh(), "ana", 3);
    expect(codeOf(() => judged(one, "ana", 4))).toBe("queue_already_judged");
    expect(codeOf(() => leased(one, "ana", 1, 2))).toBe("queue_already_judged");
    expect(codeOf(() => skipItem(one, { reviewer: "ana", atMs: 1 }, "why not"))).toBe("queue_already_judged");
  });

  test("may be judged anew by the same reviewer, also into and out of agreement", () => {
    expect(codeOf(() => revised(fresh(), "ana", 3))).toBe("queue_item_state");
    const disputed = judged(judged(fresh(), "ana", 3), "ben", 4);
    const agreed = revised(disputed, "ben", 3);
    expect(agreed).toMatchObject({ state: "done", final: { value: 3 } });
    expect(agreed.reviews).toHaveLength(2);
    expect(revised(agreed, "ana", 1)).toMatchObject({ state: "disputed" });
    expect(revised(agreed, "ana", 1)).not.toHaveProperty("final");
  });

  test("is not judged anew by somebody who could see what others said, where it is blind", () => {
    const one = judged(fresh(), "ana", 3);
    expect(revised(one, "ana", 4, RULES).reviews).toMatchObject([{ value: 4, revised: true }]);
    const two = judged(one, "ben", 4);
    expect(codeOf(() => revised(two, "ana", 4, RULES))).toBe("queue_already_judged");
  });

  test("can be skipped by one and judged by others; whoever skipped may come back", () => {
    const skipped = skipItem(leased(fresh(), "ana", 0, 10), { reviewer: "ana", atMs: 1 }, "not my language");
    expect(skipped.reviews).toEqual([{ status: "skipped", reviewer: "ana", atMs: 1, reason: "not my language" }]);
    expect(judged(judged(skipped, "ben", 2), "cho", 2).state).toBe("done");
    expect(judged(skipped, "ana", 2).reviews).toMatchObject([{ status: "judged" }]);
  });

  test("is released by its holder only", () => {
    const held = leased(fresh(), "ana", 0, 10);
    expect(releaseItem(held, { reviewer: "ana", atMs: 5 }).reviews).toEqual([]);
    expect(codeOf(() => releaseItem(held, { reviewer: "ben", atMs: 5 }))).toBe("queue_item_state");
  });
});

describe("an item that is given back", () => {
  test("keeps its judgments while it is open, and forgets who skipped or holds it", () => {
    const skipped = skipItem(judged(fresh(), "ana", 2), { reviewer: "ben", atMs: 0 }, "tired");
    const back = requeueItem(leased(skipped, "cho", 0, 99), RULES, 1);
    expect(back.reviews).toMatchObject([{ reviewer: "ana", status: "judged" }]);
    expect(back.round).toBe(1);
    expect(codeOf(() => requeueItem(back, RULES, 1))).toBe("queue_item_state");
  });

  test("begins a round without judgments when it was settled, and remembers those it had", () => {
    const done = judged(judged(fresh(), "ana", 2), "ben", 2);
    const again = requeueItem(done, RULES, 5);
    expect(again).toMatchObject({ state: "open", round: 2, reviews: [] });
    expect(again).not.toHaveProperty("final");
    expect(again.past).toMatchObject([
      { reviewer: "ana", round: 1, value: 2 },
      { reviewer: "ben", round: 1, value: 2 },
    ]);
    const third = requeueItem(judged(judged(again, "ana", 3), "cho", 3), RULES, 6);
    expect(earlierJudgments(third, "ana").flatMap(({ annotationIds }) => annotationIds)).toEqual(["ana-2", "ana-1"]);
    expect(earlierJudgments(third, "ben").flatMap(({ annotationIds }) => annotationIds)).toEqual(["ben-1"]);
  });

  test("is what it was when it had been closed", () => {
    const one = closeItem(judged(fresh(), "ana", 2));
    expect(codeOf(() => judged(one, "ben", 2))).toBe("queue_item_state");
    expect(codeOf(() => closeItem(one))).toBe("queue_item_state");
    expect(requeueItem(one, RULES, 0)).toMatchObject({ state: "open", reviews: [{ reviewer: "ana" }] });
    const disputed = judged(judged(fresh(), "ana", 2), "ben", 3);
    expect(requeueItem(closeItem(disputed), RULES, 0).state).toBe("disputed");
  });
});

describe("an item that reviewers disagree on", () => {
  const disputed = judged(judged(fresh(), "ana", 2), "ben", 3);
  const verdict = (reviewer: string, item = disputed, rules = RULES) =>
    adjudicateItem(item, rules, { reviewer, atMs: 8, judgment: { kind: "person", value: 3, annotationIds: ["last"] } });

  test("is settled by the word of somebody who did not judge it", () => {
    const done = verdict("cho");
    expect(done).toMatchObject({
      state: "done",
      final: { value: 3, how: "adjudicated", by: "cho", annotationIds: ["last"] },
    });
    expect(done.reviews).toEqual(disputed.reviews);
    expect(codeOf(() => verdict("dan", done))).toBe("queue_item_state");
    expect(codeOf(() => revised(done, "ana", 3))).toBe("queue_already_judged");
  });

  test("is not settled by one of the two, unless the queue allows it", () => {
    expect(codeOf(() => verdict("ana"))).toBe("forbidden");
    expect(verdict("ana", disputed, { ...RULES, selfAdjudication: true }).state).toBe("done");
  });

  test("is the only kind that is adjudicated", () => {
    expect(codeOf(() => verdict("cho", fresh()))).toBe("queue_item_state");
  });
});
