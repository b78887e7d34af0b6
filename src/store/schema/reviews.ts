import { int, jsonText, type Row, table, text, time } from "./table.ts";

/** Conversations about what should change. */
export const reviewSessions = table(
  "review_sessions",
  {
    session_id: text(),
    tenant: text(),
    workspace: text().orNull,
    agent: text(),
    created_by: text(),
    created_at: time(),
    updated_at: time(),
    revision: int(),
    rounds: int(),
    lease_owner: text().orNull.hidden,
    lease_until: time().orNull.hidden,
    memory: jsonText(),
  },
  {
    key: ["session_id"],
    changing: ["agent", "updated_at", "revision", "rounds", "lease_owner", "lease_until", "memory"],
  },
);
export type ReviewSessionsTable = Row<typeof reviewSessions>;

/** Added, never changed. */
export const reviewRounds = table(
  "review_rounds",
  { session_id: text(), n: int(), tenant: text(), at: time(), body: jsonText() },
  { key: ["session_id", "n"] },
);
