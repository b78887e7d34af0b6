import type { Host } from "../../engine/host.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity.ts";
import { instantMs } from "../../protocol/instant.ts";
import type {
  ReviewAnalyticsQuery,
  ReviewAnalyticsResponse,
  ReviewListQuery,
  ReviewPage,
} from "../../protocol/review-api.ts";
import type { ReviewHead, ReviewQuery, StoredRound } from "../../store/reviews.ts";
import { type ReviewedConversation, reviewAnalytics } from "../analytics.ts";
import { conversationsOf } from "./conversations.ts";
import { bodyOf, roundsOfAll } from "./read-rounds.ts";
import { reviewInfo } from "./show-review.ts";

type Reading = Pick<Host, "store">;

const PAGE = 50;

export async function listReviews(host: Reading, visible: Visibility, query: ReviewListQuery): Promise<ReviewPage> {
  const { limit = PAGE, cursor } = query;
  const before = cursor === undefined ? {} : { before: placeOf(cursor) };
  const heads = await host.store.listReviews(visible, { ...filterOf(query), ...before, limit: limit + 1 });
  const page = heads.slice(0, limit);
  const last = heads.length > limit ? page.at(-1) : undefined;
  return { reviews: page.map(reviewInfo), ...(last === undefined ? {} : { nextCursor: cursorAt(last) }) };
}

function filterOf({ agent, from, to }: ReviewAnalyticsQuery): Omit<ReviewQuery, "limit"> {
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(from === undefined ? {} : { fromMs: msOf("from", from) }),
    ...(to === undefined ? {} : { toMs: msOf("to", to) }),
  };
}

function msOf(name: string, text: string): number {
  const ms = instantMs(text);
  if (ms !== undefined) return ms;
  throw new AppError("validation_error", { problem: `query/${name} must be an instant like 2027-01-31T12:00:00Z` });
}

type Place = NonNullable<ReviewQuery["before"]>;

function cursorAt({ createdAtMs, sessionId }: Place): string {
  return Buffer.from(`${createdAtMs} ${sessionId}`).toString("base64url");
}

const PLACE = /^(\d{1,15}) (\w{1,64})$/;

function placeOf(cursor: string): Place {
  const [, ms, sessionId] = PLACE.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (ms !== undefined && sessionId !== undefined) {
    const place = { createdAtMs: Number(ms), sessionId };
    if (cursorAt(place) === cursor) return place;
  }
  throw new AppError("validation_error", { problem: "cursor is not one this host gave out" });
}

/** More are looked at by asking for one span of time after the other. */
const SESSIONS_MAX = 5000;
/** Read and forgotten together: only what is counted of them is kept. */
const SESSIONS_PER_READ = 50;

/** What became of the remarks of all sessions that the caller may see. */
export async function countReviews(
  { store }: Reading,
  visible: Visibility,
  query: ReviewAnalyticsQuery,
  sessionsMax = SESSIONS_MAX,
): Promise<ReviewAnalyticsResponse> {
  const filter = filterOf(query);
  const conversations: ReviewedConversation[] = [];
  let sessions = 0;
  let before: ReviewHead | undefined;
  for (;;) {
    const limit = Math.min(SESSIONS_PER_READ, sessionsMax + 1 - sessions);
    const found = await store.listReviews(visible, { ...filter, ...(before === undefined ? {} : { before }), limit });
    const heads = found.slice(0, sessionsMax - sessions);
    const rounds = bySession(await roundsOfAll(store, heads));
    for (const { sessionId } of heads) {
      conversations.push(...conversationsOf(sessionId, (rounds.get(sessionId) ?? []).map(bodyOf)));
    }
    sessions += heads.length;
    before = heads.at(-1);
    const complete = heads.length === found.length;
    if (found.length < limit || !complete || before === undefined) {
      return {
        sessions,
        complete,
        analytics: reviewAnalytics(conversations) as ReviewAnalyticsResponse["analytics"],
      };
    }
  }
}

function bySession(rounds: readonly StoredRound[]): Map<string, StoredRound[]> {
  const found = new Map<string, StoredRound[]>();
  for (const round of rounds) {
    const its = found.get(round.sessionId);
    if (its === undefined) found.set(round.sessionId, [round]);
    else its.push(round);
  }
  return found;
}
