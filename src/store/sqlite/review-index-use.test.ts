import { afterEach, beforeEach, expect, test } from "vitest";
import { FIRST_ROUND } from "../reviews.ts";
import { migrate } from "../sql/migrate.ts";
import { sharedStore } from "../sql/shared-store.ts";
import { kyselyOver } from "./kysely-dialect.ts";
import { IN_MEMORY, openForWriting, type SqliteDatabase } from "./open-database.ts";

let db: SqliteDatabase;
beforeEach(async () => {
  db = await openForWriting(IN_MEMORY);
  await migrate(kyselyOver(db));
});
afterEach(() => db.close());

type Shared = ReturnType<typeof sharedStore>;

async function planOf(call: (store: Shared) => Promise<unknown>): Promise<string> {
  const plans: string[] = [];
  const prepare = (sql: string) => {
    const steps = db.prepare(`explain query plan ${sql}`).all() as { detail: string }[];
    plans.push(...steps.map(({ detail }) => detail));
    return db.prepare(sql);
  };
  const watched = kyselyOver({ prepare, exec: (sql) => db.exec(sql), close: () => {} });
  await call(sharedStore(watched, watched));
  return plans.join("\n");
}

const before = { createdAtMs: 1, sessionId: "ses_1" };

test.each([{ tenant: "t" }, { tenant: "t", workspace: "w" }])(
  "review sessions are found and listed by an index: %j",
  async (who) => {
    const listed = await planOf((store) => store.listReviews(who, { limit: 9, before }));
    expect(listed).toContain("review_sessions_by_tenant (tenant=? AND (created_at,session_id)<(?,?))");
    const ofAgent = await planOf((store) => store.listReviews(who, { limit: 9, before, agent: "a" }));
    expect(ofAgent).toContain("review_sessions_by_agent (tenant=? AND agent=?");
    const used = await planOf((store) => store.latestReview(who));
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
