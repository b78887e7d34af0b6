import { type Kysely, sql } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { ReviewClaim, ReviewHead, ReviewQuery, RoundPlace, StoredReview, StoredRound } from "../port/reviews.ts";
import { reviewSessions, reviewRounds as rounds } from "../schema/reviews.ts";
import type { Tables } from "../schema/tables.ts";
import { visibleTo } from "./conditions.ts";

/** All that a list shows of a session: what the provider remembers may be long. */
const HEAD_COLUMNS = [
  "session_id",
  "tenant",
  "workspace",
  "agent",
  "created_by",
  "created_at",
  "updated_at",
  "revision",
  "rounds",
] as const;

export async function readReview(
  db: Kysely<Tables>,
  visible: Visibility,
  sessionId: string,
): Promise<StoredReview | undefined> {
  const row = await visibleReviews(db, visible)
    .select([...HEAD_COLUMNS, "memory"])
    .where("session_id", "=", sessionId)
    .executeTakeFirst();
  return row && reviewSessions.toRecord(row);
}

export async function listReviews(
  db: Kysely<Tables>,
  visible: Visibility,
  { limit, before, agent, fromMs, toMs }: ReviewQuery,
): Promise<ReviewHead[]> {
  const rows = await visibleReviews(db, visible)
    .select(HEAD_COLUMNS)
    .$if(agent !== undefined, (found) => found.where("agent", "=", agent ?? ""))
    .$if(fromMs !== undefined, (found) => found.where("created_at", ">=", fromMs ?? 0))
    .$if(toMs !== undefined, (found) => found.where("created_at", "<", toMs ?? 0))
    .$if(before !== undefined, (found) =>
      found.where(sql<boolean>`(created_at, session_id) < (${before?.createdAtMs}, ${before?.sessionId})`),
    )
    .orderBy("created_at", "desc")
    .orderBy("session_id", "desc")
    .limit(limit)
    .execute();
  return rows.map(reviewSessions.toRecord);
}

export async function latestReview(
  db: Kysely<Tables>,
  visible: Visibility,
  createdBy: string,
): Promise<string | undefined> {
  const row = await visibleReviews(db, visible)
    .where("created_by", "=", createdBy)
    .select("session_id")
    .orderBy("updated_at", "desc")
    .orderBy("session_id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.session_id;
}

function visibleReviews(db: Kysely<Tables>, visible: Visibility) {
  return db.selectFrom("review_sessions").where(visibleTo(visible));
}

export async function reviewRounds(
  db: Kysely<Tables>,
  tenant: string,
  sessionIds: readonly string[],
  after: RoundPlace,
  limit: number,
): Promise<StoredRound[]> {
  if (sessionIds.length === 0) return [];
  const rows = await db
    .selectFrom("review_rounds")
    .select(["session_id", "n", "at", "body"])
    .where("session_id", "in", [...sessionIds])
    .where("tenant", "=", tenant)
    .where(sql<boolean>`(session_id, n) > (${after.sessionId}, ${after.n})`)
    .orderBy("session_id")
    .orderBy("n")
    .limit(limit)
    .execute();
  return rows.map(rounds.toRecord);
}

/** One statement decides, so two claimers cannot both win. When there was nothing to claim, `read` tells whether it is held. */
export async function claimReview(
  write: Kysely<Tables>,
  read: Kysely<Tables>,
  visible: Visibility,
  { sessionId, owner, nowMs, untilMs }: ReviewClaim,
): Promise<StoredReview | "held" | undefined> {
  const [row] = await write
    .updateTable("review_sessions")
    .set({ lease_owner: owner, lease_until: untilMs })
    .where("session_id", "=", sessionId)
    .where(visibleTo(visible))
    .where((session) => session.or([session("lease_owner", "is", null), session("lease_until", "<=", nowMs)]))
    .returning([...HEAD_COLUMNS, "memory"])
    .execute();
  if (row !== undefined) return reviewSessions.toRecord(row);
  const held = await visibleReviews(read, visible).select("session_id").where("session_id", "=", sessionId).execute();
  return held.length > 0 ? "held" : undefined;
}

export async function renewReview(
  db: Kysely<Tables>,
  sessionId: string,
  owner: string,
  untilMs: number,
): Promise<boolean> {
  const renewed = await db
    .updateTable("review_sessions")
    .set({ lease_until: untilMs })
    .where("session_id", "=", sessionId)
    .where("lease_owner", "=", owner)
    .returning("session_id")
    .execute();
  return renewed.length > 0;
}

export async function releaseReview(db: Kysely<Tables>, sessionId: string, owner: string): Promise<void> {
  await db
    .updateTable("review_sessions")
    .set({ lease_owner: null, lease_until: null })
    .where("session_id", "=", sessionId)
    .where("lease_owner", "=", owner)
    .execute();
}
