import type { Limits } from "../reviews/requester/carrier.ts";
import type { ReviewWrite, StoredReview, StoredRound } from "../store/port/reviews.ts";
import { NOW, newId } from "./builders.ts";

/** A session that is new. */
export function reviewOf(tenant: string, more: Partial<StoredReview> = {}): StoredReview {
  return {
    sessionId: newId("run").replace("run-", "ses_"),
    tenant,
    agent: "qualitative-reviewer",
    createdBy: "pat",
    createdAtMs: NOW,
    updatedAtMs: NOW,
    revision: 1,
    rounds: 0,
    memory: '{"last":0}',
    ...more,
  };
}

export function roundOf({ sessionId }: StoredReview, n: number, more: Partial<StoredRound> = {}): StoredRound {
  return { sessionId, n, atMs: NOW + n, body: `{"n":${n}}`, ...more };
}

export function writing(session: StoredReview, rounds: readonly StoredRound[] = [], heldBy?: string): ReviewWrite {
  return { type: "round", session, rounds, ...(heldBy === undefined ? {} : { heldBy }) };
}

/** The limits of a provider as the settings have them by default. */
export const DEFAULT_LIMITS: Limits = {
  timeMs: 300_000,
  bytes: 64 * 1024 * 1024,
  lines: 20_000,
  graceMs: 10_000,
  killMs: 5_000,
};
