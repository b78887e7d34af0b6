import type { Host } from "../../engine/host.ts";
import { defined } from "../../protocol/defined.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { ReviewDetails, ReviewInfo, ReviewItemView, ReviewSessionState } from "../../protocol/reviews/api.ts";
import type { ReviewHead } from "../../store/port/reviews.ts";
import { reviewAnalytics } from "../analytics.ts";
import { conversationsOf, itemsOf, type ReviewItem } from "./conversations.ts";
import { memoryOf } from "./store-backend.ts";
import { iso, timedRounds, visibleReview } from "./stored-review.ts";

type Reading = Pick<Host, "store">;

/** A session without its artifacts. */
export async function showReview(host: Reading, visible: Visibility, sessionId: string): Promise<ReviewDetails> {
  const stored = await visibleReview(host, visible, sessionId);
  const rounds = await timedRounds(host, stored);
  return {
    ...reviewInfo(stored),
    history: rounds,
    items: itemsOf(rounds).map(itemView),
    analytics: reviewAnalytics(conversationsOf(sessionId, rounds)),
  };
}

export function reviewInfo(head: ReviewHead): ReviewInfo {
  const { sessionId, workspace, agent, createdBy, createdAtMs, updatedAtMs, rounds } = head;
  return {
    sessionId,
    ...defined({ workspace }),
    agent,
    createdBy,
    createdAt: iso(createdAtMs),
    updatedAt: iso(updatedAtMs),
    rounds,
  };
}

function itemView({ decisions, ...item }: ReviewItem): ReviewItemView {
  const status = decisions.at(-1)?.status;
  return {
    ...item,
    iterations: [...item.iterations],
    ...defined({ status }),
    decisions: decisions.map(({ place: _, ...decision }) => decision),
  };
}

/** The provider's state for the next turn: the present conversation only. */
export async function sessionState(host: Reading, visible: Visibility, sessionId: string): Promise<ReviewSessionState> {
  const stored = await visibleReview(host, visible, sessionId);
  const { conversation, session } = memoryOf(stored);
  const rounds = await timedRounds(host, stored);
  const present = rounds.filter((round) => round.conversation === conversation);
  return {
    sessionID: sessionId,
    iterations: present.filter(({ outcome }) => outcome === "success").map(({ iteration }) => iteration),
    issued: session.issued.map(({ id, aspect, iterations }) => ({ id, aspect, iterations: [...iterations] })),
    decisions: session.decisions.map(({ known, ...decision }) => ({
      ...decision,
      processing_status: known ? "acknowledged" : "unknown_id",
    })),
    analytics: reviewAnalytics(conversationsOf(sessionId, present)),
  };
}
