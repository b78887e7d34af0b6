import { expect, test } from "vitest";
import { queryPlans } from "../../testing/query-plans.ts";
import { FIRST_ROUND } from "../port/reviews.ts";

const { planOf } = queryPlans();

const before = { createdAtMs: 1, sessionId: "ses_1" };

test.each([{ tenant: "t" }, { tenant: "t", workspace: "w" }])(
  "review sessions are found and listed by an index: %j",
  async (who) => {
    const listed = await planOf((store) => store.listReviews(who, { limit: 9, before }));
    expect(listed).toContain("review_sessions_by_tenant (tenant=? AND (created_at,session_id)<(?,?))");
    const ofAgent = await planOf((store) => store.listReviews(who, { limit: 9, before, agent: "a" }));
    expect(ofAgent).toContain("review_sessions_by_agent (tenant=? AND agent=?");
    const used = await planOf((store) => store.latestReview(who, "ada"));
    expect(used).toContain("review_sessions_by_use (tenant=?");
    const claim = { sessionId: "ses_1", owner: "o", nowMs: 1, untilMs: 2 };
    const others = await Promise.all([
      planOf((store) => store.readReview(who, "ses_1")),
      planOf((store) => store.claimReview(who, claim)),
      planOf((store) => store.reviewRounds("t", ["ses_1", "ses_2"], FIRST_ROUND, 9)),
    ]);
    for (const plan of [listed, ofAgent, used, ...others]) expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
  },
);
