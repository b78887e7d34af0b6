import { FIRST_ROUND, type ReviewHead, type RoundPlace, type StoredRound } from "../../store/port/reviews.ts";
import type { Store } from "../../store/port/store.ts";
import type { ReviewRound } from "./review-round.ts";

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
