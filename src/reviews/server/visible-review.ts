import type { Host } from "../../engine/host.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { StoredReview } from "../../store/port/reviews.ts";
import { isSessionID } from "../provider/stream-ids.ts";
import type { TimedRound } from "./conversations.ts";
import { bodyOf, roundsOf } from "./read-rounds.ts";

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

export async function timedRounds({ store }: Pick<Host, "store">, stored: StoredReview): Promise<TimedRound[]> {
  const rounds = await roundsOf(store, stored);
  return rounds.map((round) => ({ n: round.n, at: iso(round.atMs), ...bodyOf(round) }));
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}
