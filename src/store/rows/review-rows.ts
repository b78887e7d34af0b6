import type { ReviewHead, StoredReview, StoredRound } from "../port/reviews.ts";
import type { ReviewRoundsTable, ReviewSessionsTable } from "../schema/review-tables.ts";

/** Sessions and rounds of reviews to rows and back. */

/** As it is written: nobody holds it then. */
export function reviewRow(session: StoredReview): ReviewSessionsTable {
  return {
    session_id: session.sessionId,
    tenant: session.tenant,
    workspace: session.workspace ?? null,
    agent: session.agent,
    created_by: session.createdBy,
    created_at: session.createdAtMs,
    updated_at: session.updatedAtMs,
    revision: session.revision,
    rounds: session.rounds,
    lease_owner: null,
    lease_until: null,
    memory: session.memory,
  };
}

export const HEAD_COLUMNS = [
  "session_id",
  "tenant",
  "workspace",
  "agent",
  "created_by",
  "created_at",
  "updated_at",
  "revision",
  "rounds",
] as const satisfies readonly (keyof ReviewSessionsTable)[];

export function toHead(row: Pick<ReviewSessionsTable, (typeof HEAD_COLUMNS)[number]>): ReviewHead {
  return {
    sessionId: row.session_id,
    tenant: row.tenant,
    ...(row.workspace === null ? {} : { workspace: row.workspace }),
    agent: row.agent,
    createdBy: row.created_by,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
    revision: row.revision,
    rounds: row.rounds,
  };
}

export function toReview(row: Pick<ReviewSessionsTable, (typeof HEAD_COLUMNS)[number] | "memory">): StoredReview {
  return { ...toHead(row), memory: row.memory };
}

export function roundRow(tenant: string, round: StoredRound): ReviewRoundsTable {
  return { session_id: round.sessionId, n: round.n, tenant, at: round.atMs, body: round.body };
}

export function toRound(row: Omit<ReviewRoundsTable, "tenant">): StoredRound {
  return { sessionId: row.session_id, n: row.n, atMs: row.at, body: row.body };
}
