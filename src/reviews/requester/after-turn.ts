import type { OutcomeName } from "../../formats/reviews/outcome.ts";
import type { ReviewRequest } from "../../formats/reviews/request.ts";
import type { Acknowledgement, ReviewResponse } from "../../formats/reviews/response.ts";
import { defined } from "../../protocol/defined.ts";
import { type Conversation, type KnownRemark, openRemarks, pendingDecisions } from "./conversation.ts";

/** The record of an attempt in the log of its conversation. */
export interface RecordedOutcome {
  readonly outcome: OutcomeName;
  readonly session_id: string | null;
  readonly spent: { readonly tokens: number; readonly cost: number };
  readonly duration_ms: number;
}

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
    const iterations = [...(earlier?.iterations ?? []), iteration];
    all.set(id, { id, ...defined({ aspect: aspect ?? earlier?.aspect }), iterations });
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

export interface Stop {
  readonly status: "converged" | "stopped";
  readonly reason: string;
}

/** Whether a conversation is over after a success answer that it has taken in. */
export function stopAfterAnswer(conversation: Conversation): Stop | undefined {
  const { decisions, next_iteration, limits } = conversation;
  const remarks = openRemarks(conversation);
  if (remarks.length === 0) return { status: "converged", reason: "no_remarks" };
  const isSettled = ({ id }: { readonly id: string }) => {
    const status = Object.hasOwn(decisions, id) ? decisions[id]?.status : undefined;
    return status === "rejected" || status === "accepted";
  };
  if (remarks.every(isSettled)) return { status: "converged", reason: "nothing_new" };
  if (next_iteration > limits.max_iterations) return { status: "stopped", reason: "max_iterations" };
  if (isAllRejected(conversation)) return { status: "stopped", reason: "all_rejected" };
  if (isOverBudget(conversation)) return { status: "stopped", reason: "budget" };
  return undefined;
}

/** The last two turns whose remarks could be decided on are the two before the answer that has just come. */
function isAllRejected({ remarks, decisions, next_iteration }: Conversation): boolean {
  const decidedTurns = [next_iteration - 2, next_iteration - 3];
  return decidedTurns.every((iteration) => {
    const made = remarks.filter(({ iterations }) => iterations.includes(iteration));
    return (
      made.length > 0 && made.every(({ id }) => Object.hasOwn(decisions, id) && decisions[id]?.status === "rejected")
    );
  });
}

function isOverBudget({ spent, limits }: Conversation): boolean {
  const { max_tokens = Infinity, max_cost = Infinity, max_ms = Infinity } = limits;
  return spent.tokens > max_tokens || spent.cost > max_cost || spent.ms > max_ms;
}

/** Whether it is over before this artifact is sent. */
export function stopBeforeSending(conversation: Conversation, digest: string): Stop | undefined {
  const { artifacts } = conversation;
  const last = artifacts.at(-1);
  if (last?.digest === digest) {
    const isRefusal = pendingDecisions(conversation).every(({ status }) => status === "rejected");
    return isRefusal ? { status: "stopped", reason: "unchanged" } : undefined;
  }
  const isOld = artifacts.some((earlier) => earlier.digest === digest);
  return isOld ? { status: "stopped", reason: "oscillation" } : undefined;
}
