import type { Scrubber } from "../../formats/secrets/scrub.ts";
import type { Review } from "../provider/finish-turn.ts";
import { fingerprintOf, type ReviewSession } from "../provider/session.ts";
import type { ReviewAsked, Reviewer } from "../reviewer.ts";
import type { ReviewRound } from "./review-round.ts";

/**
 * Everything that people and reviewers wrote, without its secrets. Ids of remarks stay as they are: the host issues them and
 * decisions refer to them; an id that was never issued is the sender's own text.
 */

/** Clean before it is answered, so that the same request is given the same words again. */
export function cleanReviewer(reviewer: Reviewer, scrubber: Scrubber): Reviewer {
  return {
    agent: reviewer.agent,
    reviews: (mediaType) => reviewer.reviews(mediaType),
    review: async (asked) => cleanOpinion(await reviewer.review(cleanQuestion(asked, scrubber)), scrubber),
  };
}

/** Text that a reviewer does not get cannot enter the ids it makes, which derive from the words of a remark's part. */
function cleanQuestion({ request, decisions, ...rest }: ReviewAsked, scrubber: Scrubber): ReviewAsked {
  const { applied_feedback, artifact } = request;
  const items = applied_feedback?.items.map((one) => cleanDecision(one, true, scrubber));
  return {
    ...rest,
    request: {
      ...request,
      artifact: scrubber.scrubValue(artifact),
      ...(items === undefined ? {} : { applied_feedback: { ...applied_feedback, items } }),
    },
    decisions: decisions.map((one) => cleanDecision(one, one.known, scrubber)),
  };
}

/** A turn cleans its artifact for the reviewer and again to keep it, and it may be large. */
export function cleaningOnce({ scrubText, scrubValue, holdsKey }: Scrubber): Scrubber {
  const clean = new WeakMap<object, unknown>();
  return {
    scrubText,
    scrubValue: <T>(value: T): T => {
      if (typeof value !== "object" || value === null) return scrubValue(value);
      if (!clean.has(value)) clean.set(value, scrubValue(value));
      return clean.get(value) as T;
    },
    holdsKey,
  };
}

function cleanOpinion(review: Review, { scrubText, scrubValue }: Scrubber): Review {
  return {
    confidence: scrubValue(review.confidence),
    positive_points: scrubValue(review.positive_points),
    remarks: review.remarks.map((remark) => ({
      ...remark,
      aspect: scrubText(remark.aspect),
      description: scrubText(remark.description),
      recommendation: scrubText(remark.recommendation),
      // Parts are only compared; words in place of a digest may contain secrets.
      part: DIGEST.test(remark.part) ? remark.part : fingerprintOf(remark.part),
    })),
    general_summary: scrubText(review.general_summary),
  };
}

/** A digest, also with a count before it. Reviewers recognize these parts in the next turn. */
const DIGEST = /^(\d{1,9}:)?[0-9a-f]{32,64}$/;

/** Parts that `before` has too are clean already, and an artifact may be large. */
export function cleanSession(session: ReviewSession, before: ReviewSession, scrubber: Scrubber): ReviewSession {
  const { scrubText, scrubValue } = scrubber;
  const { answered, artifact } = session;
  const kept = new Set(before.decisions);
  return {
    ...session,
    issued: session.issued.map((one) => ({
      ...one,
      aspect: scrubText(one.aspect),
      description: scrubText(one.description),
      recommendation: scrubText(one.recommendation),
    })),
    decisions: session.decisions.map((one) => (kept.has(one) ? one : cleanDecision(one, one.known, scrubber))),
    ...(answered === undefined
      ? {}
      : { answered: { ...answered, response: cleanResponse(answered.response, scrubber) } }),
    ...(artifact === undefined || artifact === before.artifact ? {} : { artifact: scrubValue(artifact) }),
  };
}

export function cleanRound(round: ReviewRound, scrubber: Scrubber): ReviewRound {
  const { scrubText, scrubValue } = scrubber;
  const { artifact, confidence, general_summary, positive_points } = round;
  return {
    ...round,
    decisions: round.decisions.map((one) => cleanDecision(one, one.processing_status === "acknowledged", scrubber)),
    remarks: round.remarks.map((one) => ({ ...scrubValue(one), id: one.id })),
    ...(artifact === undefined ? {} : { artifact: { ...scrubValue(artifact), digest: artifact.digest } }),
    ...(confidence === undefined ? {} : { confidence: scrubValue(confidence) }),
    ...(general_summary === undefined ? {} : { general_summary: scrubText(general_summary) }),
    ...(positive_points === undefined ? {} : { positive_points: scrubValue(positive_points) }),
  };
}

function cleanDecision<D extends { readonly id: string; readonly reason_code?: string; readonly explanation?: string }>(
  decision: D,
  isKnown: boolean,
  { scrubText }: Scrubber,
): D {
  const { id, reason_code, explanation } = decision;
  return {
    ...decision,
    id: isKnown ? id : scrubText(id),
    ...(reason_code === undefined ? {} : { reason_code: scrubText(reason_code) }),
    ...(explanation === undefined ? {} : { explanation: scrubText(explanation) }),
  };
}

interface Response {
  readonly feedback?: { readonly areas_for_improvement: readonly { readonly id: string }[] };
  readonly applied_feedback_ack?: {
    readonly items: readonly { readonly id: string; readonly processing_status: string }[];
  };
}

/** The answer is one of our own making: it is what it has to be. */
export function cleanResponse(text: string, { scrubText, scrubValue }: Scrubber): string {
  const response = JSON.parse(text) as Response;
  const { feedback, applied_feedback_ack: ack } = response;
  const clean = scrubValue(response);
  const remarks = clean.feedback?.areas_for_improvement.map((one, i) => ({
    ...one,
    id: feedback?.areas_for_improvement[i]?.id ?? one.id,
  }));
  const items = ack?.items.map((one) =>
    one.processing_status === "acknowledged" ? one : { ...one, id: scrubText(one.id) },
  );
  return JSON.stringify({
    ...clean,
    ...(remarks === undefined ? {} : { feedback: { ...clean.feedback, areas_for_improvement: remarks } }),
    ...(items === undefined ? {} : { applied_feedback_ack: { items } }),
  });
}
