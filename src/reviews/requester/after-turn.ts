import type { OutcomeName } from "../../formats/reviews/outcome.ts";
import type { ReviewRequest } from "../../formats/reviews/request.ts";
import type { Acknowledgement, ReviewResponse } from "../../formats/reviews/response.ts";
import type { Conversation, KnownRemark } from "./conversation.ts";
import { stopAfterAnswer } from "./stop-rules.ts";

/** The record of an attempt in the log of its conversation. */
export interface RecordedOutcome {
  readonly outcome: OutcomeName;
  readonly session_id: string | null;
  readonly spent: { readonly tokens: number; readonly cost: number };
  readonly duration_ms: number;
}

/** The artifact of a turn. */
export interface SentArtifact {
  readonly digest: string;
  readonly added: number;
  readonly removed: number;
}

/** Every attempt counts in the figures, with any outcome. */
export function afterAttempt(
  conversation: Conversation,
  attempt: number,
  { spent, duration_ms }: RecordedOutcome,
): Conversation {
  const { tokens, cost, ms } = conversation.spent;
  return {
    ...conversation,
    attempts: attempt,
    spent: { tokens: tokens + spent.tokens, cost: cost + spent.cost, ms: ms + duration_ms },
  };
}

/** A success answer moves the conversation on. */
export function afterAnswer(
  conversation: Conversation,
  request: ReviewRequest,
  response: ReviewResponse & { readonly status: "success" },
  about: SentArtifact & { readonly session_id: string | null },
): Conversation {
  const { iteration, artifact } = request;
  const { session_id, digest, added, removed } = about;
  const moved: Conversation = {
    ...conversation,
    session_id,
    next_iteration: iteration + 1,
    remarks: withRemarks(conversation.remarks, response.feedback.areas_for_improvement, iteration),
    artifacts: [
      ...conversation.artifacts,
      { iteration, artifact_ref: artifact.artifact_ref ?? digest, digest, added, removed },
    ],
  };
  const stop = stopAfterAnswer(moved);
  return { ...moved, status: stop?.status ?? "open", reason: stop?.reason ?? null };
}

function withRemarks(
  known: readonly KnownRemark[],
  made: readonly { readonly id: string; readonly aspect?: string }[],
  iteration: number,
): KnownRemark[] {
  const all = new Map(known.map((remark) => [remark.id, remark]));
  for (const { id, aspect } of made) {
    const earlier = all.get(id);
    const shown = aspect ?? earlier?.aspect;
    all.set(id, {
      id,
      ...(shown === undefined ? {} : { aspect: shown }),
      iterations: [...(earlier?.iterations ?? []), iteration],
    });
  }
  return [...all.values()];
}

/** One line of `decisions.ndjson`. */
export interface DecisionLine {
  readonly time: string;
  readonly iteration: number;
  readonly id: string;
  readonly aspect: string | null;
  readonly status: string;
  readonly reason_code: string | null;
  readonly explanation: string | null;
  readonly artifact_ref_before: string | null;
  readonly artifact_ref_after: string | null;
  readonly ack: "acknowledged" | "unknown_id" | "none";
}

/** The lines for the decisions of a request that was answered. */
export function decisionLines(
  conversation: Conversation,
  request: ReviewRequest,
  acknowledged: readonly Acknowledgement[] = [],
): DecisionLine[] {
  const aspects = new Map(conversation.remarks.map(({ id, aspect }) => [id, aspect]));
  const before = conversation.artifacts.findLast(({ iteration }) => iteration < request.iteration);
  return (request.applied_feedback?.items ?? []).map(({ id, status, reason_code, explanation }) => ({
    time: (Object.hasOwn(conversation.decisions, id) ? conversation.decisions[id]?.at : undefined) ?? "",
    iteration: request.iteration,
    id,
    aspect: aspects.get(id) ?? null,
    status,
    reason_code: reason_code ?? null,
    explanation: explanation ?? null,
    artifact_ref_before: before?.artifact_ref ?? null,
    artifact_ref_after: request.artifact.artifact_ref ?? null,
    ack: acknowledged.find((one) => one.id === id)?.processing_status ?? "none",
  }));
}

/** Remarks that their provider made in this conversation and does not know any more. */
export function forgottenBy(conversation: Conversation, acknowledged: readonly Acknowledgement[] = []): string[] {
  const made = new Set(conversation.remarks.map(({ id }) => id));
  return acknowledged
    .filter(({ id, processing_status }) => processing_status === "unknown_id" && made.has(id))
    .map(({ id }) => id);
}
