import { expect, test } from "vitest";
import { AppError } from "../../../protocol/errors.ts";
import { pick, type Random, randomFrom } from "../../../testing/random-workflow.ts";
import { adjudicateItem, closeItem, judgeItem, leaseItem, releaseItem, requeueItem, skipItem } from "./change-item.ts";
import { isHeld, judgmentsOf, type QueueItem } from "./item.ts";
import { newRules } from "./rules.ts";

const ITEMS = 100;
const ACTS = 60;
const CROWD = ["ana", "ben", "cho", "dan", "eve", "fay"];

/** Something that somebody does to the item; undefined when it is refused. */
function act(item: QueueItem, atMs: number, random: Random, blind: boolean): QueueItem | undefined {
  const rules = { ...newRules({ name: "q", judgment: { kind: "rating" } }), blind, maxSpread: pick(random, [0, 1]) };
  const reviewer = pick(random, CROWD);
  const by = { reviewer, atMs };
  const judgment = { kind: "person", value: pick(random, [1, 2, 3]), annotationIds: [] } as const;
  const revise = random() < 0.2;
  const deeds: readonly (() => QueueItem)[] = [
    () => leaseItem(item, by, atMs + pick(random, [1, 5, 30])),
    () => leaseItem(item, by, atMs + pick(random, [1, 5, 30])),
    () => judgeItem(item, rules, { ...by, judgment, revise }),
    () => judgeItem(item, rules, { ...by, judgment, revise }),
    () => skipItem(item, by, "no"),
    () => releaseItem(item, by),
    () => (random() < 0.1 ? requeueItem(item, rules, atMs) : item),
    () => (random() < 0.1 ? closeItem(item) : item),
    () => adjudicateItem(item, rules, { ...by, judgment }),
  ];
  try {
    return pick(random, deeds)();
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

test("whatever reviewers do in whatever order, no item is judged too often, twice by one, or lost", () => {
  const random = randomFrom(4711);
  for (let i = 0; i < ITEMS; i++) {
    const required = 1 + Math.floor(random() * 4);
    let item: QueueItem = { itemId: "itm-1", state: "open", required, round: 1, reviews: [], past: [] };
    let nowMs = 0;
    for (let a = 0; a < ACTS; a++) {
      nowMs += Math.floor(random() * 8);
      const before = item;
      item = act(before, nowMs, random, i % 2 === 0) ?? before;

      const judged = judgmentsOf(item);
      const reviewers = item.reviews.map(({ reviewer }) => reviewer);
      expect(new Set(reviewers).size).toBe(reviewers.length);
      expect(judged.length).toBeLessThanOrEqual(required);
      const held = item.reviews.filter((review) => isHeld(review, nowMs)).length;
      expect(judged.length + held).toBeLessThanOrEqual(required);
      expect(item.required).toBe(required);

      // Open means that it wants judgments; anything else that it has them, or was taken out.
      if (item.state === "open") expect(judged.length).toBeLessThan(required);
      if (item.state === "disputed") expect(judged.length).toBe(required);
      if (item.state === "done") expect([judged.length, item.final !== undefined]).toEqual([required, true]);
      else expect(item.final).toBeUndefined();

      // A judgment goes away only with its round, and then into the past.
      const total = (one: QueueItem) => one.past.length + judgmentsOf(one).length;
      expect(total(item)).toBeGreaterThanOrEqual(total(before));
      if (item.round === before.round) {
        const still = new Set(judged.map(({ reviewer }) => reviewer));
        for (const { reviewer } of judgmentsOf(before)) expect(still.has(reviewer)).toBe(true);
      }
    }

    // As long as it is open, the crowd can bring it to an end.
    for (const reviewer of CROWD) {
      if (item.state !== "open" || item.reviews.some((one) => one.reviewer === reviewer && one.status === "judged"))
        continue;
      const judgment = { kind: "person", value: 1, annotationIds: [] } as const;
      const rules = newRules({ name: "q", judgment: { kind: "rating" } });
      item = judgeItem(item, rules, { reviewer, atMs: nowMs + 1000, judgment, revise: false });
    }
    expect(item.state).not.toBe("open");
  }
});
