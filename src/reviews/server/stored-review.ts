import { auditDraft, refused } from "../../engine/execute.ts";
import type { Host } from "../../engine/host.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Caller, Visibility } from "../../protocol/identity/identity.ts";
import type { DeleteReviewResponse, ReviewRoundView } from "../../protocol/reviews/api.ts";
import {
  FIRST_ROUND,
  type ReviewHead,
  type RoundPlace,
  type StoredReview,
  type StoredRound,
} from "../../store/port/reviews.ts";
import type { Store } from "../../store/port/store.ts";
import { isSessionID } from "../provider/stream-ids.ts";
import type { ReviewRound } from "./review-round.ts";

/** Throws `not_found` for sessions that do not exist and for those of others alike. */
export async function visibleReview(
  { store }: Pick<Host, "store">,
  visible: Visibility,
  sessionId: string,
): Promise<StoredReview> {
  const stored = isSessionID(sessionId) ? await store.readReview(visible, sessionId) : undefined;
  if (stored === undefined) throw sessionNotFound(sessionId);
  return stored;
}

const SHOWN_MAX = 64;

/** The error, with the protocol's name for the session. */
export function sessionNotFound(sessionId: string): AppError {
  // Whole or not at all: a part of a secret is not recognised as one.
  const shown = sessionId.length <= SHOWN_MAX ? sessionId.toWellFormed() : `… (${sessionId.length} characters)`;
  return new AppError("not_found", { what: "review session", sessionId: shown, name: "SessionNotFound" });
}

export async function timedRounds({ store }: Pick<Host, "store">, stored: StoredReview): Promise<ReviewRoundView[]> {
  const rounds = await roundsOf(store, stored);
  return rounds.map((round) => ({ n: round.n, at: iso(round.atMs), ...bodyOf(round) }));
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** An answer may be long, and a store is read in pieces that others can wait for. */
const PER_READ = 200;

/** All rounds of a session up to the count in its head, in order; later ones may exist. */
export async function roundsOf(store: Pick<Store, "reviewRounds">, head: ReviewHead): Promise<StoredRound[]> {
  const rounds = await roundsOfAll(store, [head]);
  return rounds.slice(0, head.rounds);
}

/** The rounds of several sessions of one tenant, by session and then in order. */
export async function roundsOfAll(
  store: Pick<Store, "reviewRounds">,
  heads: readonly ReviewHead[],
): Promise<StoredRound[]> {
  const [first] = heads;
  if (first === undefined) return [];
  const sessionIds = heads.map(({ sessionId }) => sessionId);
  const all: StoredRound[] = [];
  for (let after: RoundPlace | undefined = FIRST_ROUND; after !== undefined; ) {
    const page: StoredRound[] = await store.reviewRounds(first.tenant, sessionIds, after, PER_READ);
    all.push(...page);
    after = page.length < PER_READ ? undefined : page.at(-1);
  }
  return all;
}

export function bodyOf({ body }: StoredRound): ReviewRound {
  return JSON.parse(body) as ReviewRound;
}

/** Deletes a review for good, with all its rounds; a turn under way is then not answered. Labels on runs stay. */
export async function deleteReview(host: Host, caller: Caller, sessionId: string): Promise<DeleteReviewResponse> {
  const { tenant, rounds } = await visibleReview(host, caller, sessionId);
  const note = { action: "review.deleted", details: { rounds } };
  const committed = await host.store.commit({
    tenant,
    reviews: [{ type: "delete", sessionId }],
    audit: [auditDraft(caller, host.nowMs(), sessionId, note)],
  });
  if (!committed.ok) throw refused(committed.refusal);
  return { sessionId, rounds };
}
