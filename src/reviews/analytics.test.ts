import { describe, expect, test } from "vitest";
import { inTurns } from "../engine/worker/pauses.ts";
import { analyticsSteps, type ReviewedConversation, reviewAnalytics, type SentDecision } from "./analytics.ts";

const made = (iteration: number, ...ids: string[]) => ({
  iteration,
  remarks: ids.map((id) => ({ id, aspect: id.slice(0, 1) })),
});

function decided(
  iteration: number,
  id: string,
  status: SentDecision["status"],
  more: Partial<SentDecision> = {},
): SentDecision {
  return { iteration, id, status, ack: "acknowledged", ...more };
}

function conversation(given: Partial<ReviewedConversation>): ReviewedConversation {
  return { conversation: "c", reviewer: "r", status: "open", answers: [], decisions: [], artifacts: [], ...given };
}

describe("figures", () => {
  test("count each remark of each conversation once, by its latest decision", () => {
    const answers = [made(1, "a1", "a2", "b1", "b2"), made(2, "a1")];
    const decisions = [
      decided(2, "a1", "accepted"),
      decided(2, "a2", "partial"),
      decided(2, "b1", "accepted"),
      decided(3, "b1", "rejected", { reason_code: "deferred" }),
    ];
    const one = conversation({ answers, decisions });
    expect(reviewAnalytics([one, { ...one, conversation: "d" }])).toMatchObject({
      issued: 8,
      decided: 6,
      accepted: 2,
      partial: 2,
      rejected: 2,
      acceptance_rate: 0.3333,
      weighted_rate: 0.5,
      coverage: 0.75,
    });
  });

  test("leave out decisions on remarks that were never made, but not their acknowledgements", () => {
    const decisions = [
      decided(2, "a1", "accepted"),
      decided(2, "z9", "rejected", { ack: "unknown_id" }),
      decided(2, "z8", "rejected", { ack: "none" }),
    ];
    expect(reviewAnalytics([conversation({ answers: [made(1, "a1")], decisions })])).toMatchObject({
      issued: 1,
      decided: 1,
      rejected: 0,
      acceptance_rate: 1,
      acknowledgements: 2,
      unknown_rate: 0.5,
      by_reason: [],
      by_iteration: [{ iteration: 1 }, { iteration: 2, decided: 1 }],
    });
  });

  test("of nothing are null where there is nothing to divide by", () => {
    expect(reviewAnalytics([])).toMatchObject({
      issued: 0,
      acceptance_rate: null,
      weighted_rate: null,
      coverage: null,
      unknown_rate: null,
      conversations: { total: 0, rounds_to_convergence: { mean: null, max: null } },
    });
  });

  test("by aspect and reviewer are those of a part", () => {
    const one = conversation({
      reviewer: "x",
      answers: [made(1, "a1", "b1")],
      decisions: [decided(2, "a1", "accepted")],
    });
    const two = conversation({ reviewer: "y", answers: [made(1, "b1")], decisions: [decided(2, "b1", "rejected")] });
    const { by_aspect, by_reviewer, by_reason } = reviewAnalytics([two, one]);
    expect(by_aspect).toMatchObject([
      { aspect: "a", issued: 1, decided: 1, acceptance_rate: 1 },
      { aspect: "b", issued: 2, decided: 1, acceptance_rate: 0, coverage: 0.5 },
    ]);
    expect(by_reviewer).toMatchObject([
      { reviewer: "x", issued: 2, accepted: 1, conversations: { total: 1 } },
      { reviewer: "y", issued: 1, rejected: 1, conversations: { total: 1 } },
    ]);
    expect(by_reason).toEqual([{ reason_code: "unspecified", rejected: 1, reraised: 0 }]);
  });

  test("by turn count every decision, in the turn in which it was sent", () => {
    const decisions = [decided(2, "a1", "accepted"), decided(3, "a1", "rejected"), decided(3, "a2", "partial")];
    const { by_iteration } = reviewAnalytics([
      conversation({ answers: [made(1, "a1"), made(2, "a1", "a2")], decisions }),
    ]);
    expect(by_iteration).toMatchObject([
      { iteration: 1, issued: 1, decided: 0, acceptance_rate: null },
      { iteration: 2, issued: 2, decided: 1, acceptance_rate: 1 },
      { iteration: 3, issued: 0, decided: 2, accepted: 0, partial: 1, rejected: 1, weighted_rate: 0.25 },
    ]);
  });
});

describe("a remark", () => {
  test("is made again when it comes in an answer after it was accepted, also that of the same turn", () => {
    const again = conversation({ answers: [made(1, "a1"), made(2, "a1")], decisions: [decided(2, "a1", "accepted")] });
    const before = conversation({ answers: [made(1, "a1"), made(2)], decisions: [decided(2, "a1", "accepted")] });
    const rejected = conversation({
      answers: [made(1, "a1"), made(2, "a1")],
      decisions: [decided(2, "a1", "rejected", { reason_code: "duplicate" })],
    });
    expect([again, before, rejected].map((one) => reviewAnalytics([one]).reraised)).toEqual([1, 0, 0]);
    expect(reviewAnalytics([rejected]).by_reason).toEqual([{ reason_code: "duplicate", rejected: 1, reraised: 1 }]);
    const unsaid = conversation({
      answers: [made(1, "a1")],
      decisions: [decided(2, "a1", "rejected", { reason_code: "" })],
    });
    expect(reviewAnalytics([unsaid]).by_reason).toEqual([{ reason_code: "unspecified", rejected: 1, reraised: 0 }]);
  });

  test("comes and goes when an answer between two others lacks it", () => {
    expect(reviewAnalytics([conversation({ answers: [made(1, "a1"), made(2), made(3, "a1")] })]).oscillating).toBe(1);
    expect(reviewAnalytics([conversation({ answers: [made(1), made(2, "a1"), made(3, "a1")] })]).oscillating).toBe(0);
  });
});

describe("conversations", () => {
  test("converge after so many answers", () => {
    const of = (status: ReviewedConversation["status"], answers: number) =>
      conversation({ status, answers: Array.from({ length: answers }, (_, i) => made(i + 1)) });
    expect(
      reviewAnalytics([of("converged", 1), of("converged", 4), of("stopped", 5), of("failed", 0), of("open", 1)])
        .conversations,
    ).toMatchObject({
      total: 5,
      open: 1,
      converged: 2,
      stopped: 1,
      failed: 1,
      rounds_to_convergence: { mean: 2.5, max: 4 },
    });
  });

  test("oscillate when their work comes back to what it was, not when it stays", () => {
    const figures = (...artifacts: string[]) => reviewAnalytics([conversation({ artifacts })]).conversations.oscillated;
    expect([
      figures("1", "2", "1"),
      figures("1", "1", "2"),
      figures("1", "2", "2"),
      figures("1", "2", "3", "1"),
      figures("1", "1", "1"),
    ]).toEqual([1, 0, 0, 1, 0]);
  });
});

describe("the work of counting", () => {
  const answers = (count: number) => Array.from({ length: count }, (_, i) => made(i + 1, "a1"));

  test("looks at each artifact a few times, however many there are", () => {
    let looks = 0;
    const artifacts = new Proxy(
      Array.from({ length: 500 }, (_, i) => `artifact ${i}`),
      {
        get(all, name, receiver) {
          looks++;
          return Reflect.get(all, name, receiver);
        },
      },
    );
    expect(reviewAnalytics([conversation({ artifacts })]).conversations.oscillated).toBe(0);
    expect(looks).toBeLessThan(500 * 10);
  });

  test("looks at each decision a few times, however often its remark was made", () => {
    let looks = 0;
    const decision: SentDecision = {
      ...decided(501, "a1", "accepted"),
      get iteration() {
        looks++;
        return 501;
      },
    };
    const decisions = Array.from({ length: 100 }, () => decision);
    expect(reviewAnalytics([conversation({ answers: answers(500), decisions })]).reraised).toBe(0);
    expect(looks).toBeLessThan(100 * 10);
  });

  test("can pause after each conversation and each part, and comes to the same figures", async () => {
    const all = Array.from({ length: 20 }, (_, i) => conversation({ reviewer: `r${i}`, answers: answers(3) }));
    let paused = 0;
    const figures = await inTurns(analyticsSteps(all), async () => {
      paused++;
    });
    expect(figures).toEqual(reviewAnalytics(all));
    expect(paused).toBeGreaterThanOrEqual(2 * all.length);
  });
});
