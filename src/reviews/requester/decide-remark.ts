import type { Decision } from "../../formats/reviews/request.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Conversation } from "./conversation.ts";

export const REASON_CODES = [
  "out_of_scope",
  "infeasible",
  "already_done",
  "disagree",
  "duplicate",
  "deferred",
] as const;

/** Takes a decision on a remark of this conversation, for the next request. One that was not sent yet is replaced. */
export function decideRemark(conversation: Conversation, decision: Decision, at: string): Conversation {
  const { id, status, reason_code, explanation } = decision;
  const { review, decisions, next_iteration: iteration } = conversation;
  const refuse = (problem: string): never => {
    throw new AppError("review_decision_refused", { review, id, problem });
  };
  if (!conversation.remarks.some((remark) => remark.id === id)) {
    refuse(`no remark of this review is called ${id}; \`assay review show ${review}\` lists them`);
  }
  const bare = bareDecision(decision);
  if (bare !== undefined) refuse(bare);
  const taken = {
    status,
    ...(reason_code === undefined ? {} : { reason_code }),
    ...(explanation === undefined ? {} : { explanation }),
    iteration,
    at,
  };
  // Entries and not a spread, so that a remark may be called whatever its provider likes.
  const others = Object.entries(decisions).filter(([other]) => other !== id);
  return { ...conversation, decisions: Object.fromEntries([...others, [id, taken]]) };
}

/** Why a decision is too short to be useful to the reviewer; undefined when it suffices. */
export function bareDecision({ status, reason_code, explanation }: Decision): string | undefined {
  if (status === "partial" && !explanation)
    return "a partial one needs an explanation: what was done, and what was not";
  if (status === "rejected" && !reason_code && !explanation) {
    return `a rejected one needs a reason code (${REASON_CODES.join(", ")}, or another) or an explanation`;
  }
  return undefined;
}
