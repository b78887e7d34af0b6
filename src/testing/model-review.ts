import { chatModelOf } from "../cli/wiring/review-model.ts";
import type { Decision, ReviewRequest } from "../formats/reviews/request.ts";
import type { Review } from "../reviews/provider/finish-turn.ts";
import { newSession, type ReviewSession } from "../reviews/provider/session.ts";
import { modelReviewer } from "../reviews/reviewers/model-reviewer.ts";
import type { ModelReply, ModelScript, ModelServer } from "./model-server.ts";

export const PLAN = "# Move the mail archive\n1. Stop the importer.\n2. Copy the data.\n";

/** As the model gives it. */
export const remark = (more: object = {}) => ({
  aspect: "safety",
  quote: "Copy the data",
  description: "Nothing is verified.",
  recommendation: "Compare the counts.",
  ...more,
});

export const answer = (more: object = {}) => ({
  confidence: { level: "high", justification: "It is short." },
  positive_points: [{ aspect: "structure", justification: "In order." }],
  remarks: [remark()],
  general_summary: "Nearly there.",
  ...more,
});

export const says = (value: unknown): ModelReply => ({ type: "text", text: JSON.stringify(value) });

/** One after the other, the last for ever. */
export function inTurn(...replies: ModelReply[]): ModelScript {
  return (_, calls) => replies[Math.min(calls.length, replies.length) - 1] ?? { type: "drop" };
}

export interface ReviewedTurn {
  readonly content?: unknown;
  readonly session?: ReviewSession;
  readonly items?: readonly Decision[];
  readonly artifact?: Partial<ReviewRequest["artifact"]>;
}

/** One turn, reviewed by the model at this server. */
export function reviewBy(
  server: ModelServer,
  { content = PLAN, session = newSession("ses_1"), items = [], artifact = {} }: ReviewedTurn = {},
): Promise<Review> {
  const model = chatModelOf({ url: server.url, model: "m", timeoutMs: 10_000, attemptsMax: 1 });
  const iteration = session.last + 1;
  return modelReviewer({ model, reviews: () => true }).review({
    request: {
      protocol_version: "1.2",
      iteration,
      artifact: { media_type: "text/markdown", content, ...artifact },
      ...(items.length === 0 ? {} : { applied_feedback: { items } }),
    },
    session,
    decisions: items.map((item) => ({ iteration, known: true, ...item })),
    signal: new AbortController().signal,
  });
}

/** The session after a turn with this review. */
export function sessionAfter({ remarks }: Review): ReviewSession {
  return { ...newSession("ses_1"), last: 1, issued: remarks.map((one) => ({ ...one, iterations: [1] })) };
}
