import type { ReviewRoundsTable, ReviewSessionsTable } from "../schema/review-tables.ts";

/** The order in which values are bound, and columns named. */
export const REVIEW_COLUMNS = [
  "session_id",
  "tenant",
  "workspace",
  "agent",
  "created_by",
  "created_at",
  "updated_at",
  "revision",
  "rounds",
  "lease_owner",
  "lease_until",
  "memory",
] as const satisfies readonly (keyof ReviewSessionsTable)[];

export const ROUND_COLUMNS = [
  "session_id",
  "n",
  "tenant",
  "at",
  "body",
] as const satisfies readonly (keyof ReviewRoundsTable)[];

/** What units write of reviews. `flatten-reviews.ts` gives the values. */
export const REVIEW_WRITES = {
  putReview: `insert into review_sessions (${REVIEW_COLUMNS}) values (${REVIEW_COLUMNS.map(() => "?")})
    on conflict (session_id) do update set agent = excluded.agent, updated_at = excluded.updated_at,
    revision = excluded.revision, rounds = excluded.rounds, lease_owner = null, lease_until = null,
    memory = excluded.memory`,
  insertRound: `insert into review_rounds (${ROUND_COLUMNS}) values (${ROUND_COLUMNS.map(() => "?")})`,
  deleteRounds: "delete from review_rounds where session_id = ?",
  deleteReview: "delete from review_sessions where session_id = ?",
} as const;

export const REVIEW_READS = {
  reviewHead: "select tenant, revision, lease_owner from review_sessions where session_id = ?",
} as const;
