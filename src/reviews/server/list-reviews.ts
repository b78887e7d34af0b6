import { setImmediate as nextTurn } from "node:timers/promises";
import type { Host } from "../../engine/host.ts";
import { serializeFor } from "../../engine/shared/serialize.ts";
import { inTurns } from "../../engine/worker/pauses.ts";
import { addTo } from "../../formats/text/collections.ts";
import { defined } from "../../protocol/defined.ts";
import { validationError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import { instantMs } from "../../protocol/instant.ts";
import type {
  ReviewAnalyticsQuery,
  ReviewAnalyticsResponse,
  ReviewListQuery,
  ReviewPage,
} from "../../protocol/reviews/api.ts";
import type { ReviewHead, ReviewQuery, StoredRound } from "../../store/port/reviews.ts";
import { analyticsSteps, type ReviewedConversation } from "../analytics.ts";
import { conversationsOf } from "./conversations.ts";
import { reviewInfo } from "./show-review.ts";
import { bodyOf, roundsOfAll } from "./stored-review.ts";

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
    ...defined({ agent }),
    ...(from === undefined ? {} : { fromMs: msOf("from", from) }),
    ...(to === undefined ? {} : { toMs: msOf("to", to) }),
  };
}

function msOf(name: string, text: string): number {
  const ms = instantMs(text);
  if (ms !== undefined) return ms;
  throw validationError(`query/${name} must be an instant like 2027-01-31T12:00:00Z`);
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
  throw validationError("cursor is not one this host gave out");
}

/** The limit of one request; callers ask for more by spans of time. */
const SESSIONS_MAX = 5000;
/** Answers, remarks and decisions of all of them together: counting more would take too much memory and time. */
const ENTRIES_MAX = 250_000;
/** Looked for together. */
const SESSIONS_PER_READ = 50;
/** Rounds are read in groups of this size, unless one session has more; only their counts are kept. */
const ROUNDS_PER_READ = 10;

interface CountLimits {
  readonly sessionsMax?: number;
  readonly entriesMax?: number;
}

/** Counts the outcomes of the remarks of all visible sessions, for one request of a tenant at a time. */
export function countReviews(
  host: Reading,
  visible: Visibility,
  query: ReviewAnalyticsQuery,
  limits: CountLimits = {},
): Promise<ReviewAnalyticsResponse> {
  const key = `counts of reviews of ${visible.tenant}`;
  return serializeFor(host.store, key, () => countNow(host, visible, query, limits));
}

async function countNow(
  { store }: Reading,
  visible: Visibility,
  query: ReviewAnalyticsQuery,
  { sessionsMax = SESSIONS_MAX, entriesMax = ENTRIES_MAX }: CountLimits,
): Promise<ReviewAnalyticsResponse> {
  const filter = filterOf(query);
  const conversations: ReviewedConversation[] = [];
  let sessions = 0;
  let entries = 0;
  let before: ReviewHead | undefined;
  for (;;) {
    const limit = Math.min(SESSIONS_PER_READ, sessionsMax + 1 - sessions);
    const found = await store.listReviews(visible, { ...filter, ...defined({ before }), limit });
    const heads = found.slice(0, sessionsMax - sessions);
    let looked = 0;
    for (const batch of batchesOf(heads)) {
      if (entries >= entriesMax) break;
      const rounds = bySession(await roundsOfAll(store, batch));
      for (const { sessionId } of batch) {
        const its = conversationsOf(sessionId, (rounds.get(sessionId) ?? []).map(bodyOf));
        for (const one of its) entries += entriesOf(one);
        conversations.push(...its);
        await nextTurn();
      }
      looked += batch.length;
    }
    sessions += looked;
    before = heads.at(-1);
    const complete = looked === found.length;
    if (found.length < limit || !complete || before === undefined) {
      return {
        sessions,
        complete,
        analytics: await inTurns(analyticsSteps(conversations)),
      };
    }
  }
}

function* batchesOf(heads: readonly ReviewHead[]): Generator<ReviewHead[]> {
  let batch: ReviewHead[] = [];
  let rounds = 0;
  for (const head of heads) {
    if (batch.length > 0 && rounds + head.rounds > ROUNDS_PER_READ) {
      yield batch;
      batch = [];
      rounds = 0;
    }
    batch.push(head);
    rounds += head.rounds;
  }
  if (batch.length > 0) yield batch;
}

/** An answer without remarks is one entry: its artifact is compared with those of all others. */
function entriesOf({ answers, decisions }: ReviewedConversation): number {
  return answers.reduce((sum, { remarks }) => sum + Math.max(1, remarks.length), decisions.length);
}

function bySession(rounds: readonly StoredRound[]): Map<string, StoredRound[]> {
  const found = new Map<string, StoredRound[]>();
  for (const round of rounds) addTo(found, round.sessionId, round);
  return found;
}
