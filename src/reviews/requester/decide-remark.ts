import type { Decision } from "../../formats/reviews/request.ts";
import { closestTo } from "../../protocol/closest-to.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Conversation } from "./conversation.ts";

const REASON_CODES = ["out_of_scope", "infeasible", "already_done", "disagree", "duplicate", "deferred"] as const;

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
  const taken = { status, ...defined({ reason_code, explanation }), iteration, at };
  // Entries and not a spread, so that a remark may be called whatever its provider likes.
  const others = Object.entries(decisions).filter(([other]) => other !== id);
  return { ...conversation, decisions: Object.fromEntries([...others, [id, taken]]) };
}

/** Why a decision is too short to be useful to the reviewer; undefined when it suffices. */
function bareDecision({ status, reason_code, explanation }: Decision): string | undefined {
  if (status === "partial" && !explanation)
    return "a partial one needs an explanation: what was done, and what was not";
  if (status === "rejected" && !reason_code && !explanation) {
    return `a rejected one needs a reason code (${REASON_CODES.join(", ")}, or another) or an explanation`;
  }
  return undefined;
}

export interface KnownRemarks {
  /** Ids of the last answer, in the order in which they are shown with numbers from 1. */
  readonly shown: readonly string[];
  /** Ids of every remark of the review. */
  readonly all: readonly string[];
}

/**
 * The id of a remark by its id, its number in the last answer, or a unique prefix of its id. Remarks of the last answer come
 * before earlier ones.
 */
export function namedRemark(named: string, { shown, all }: KnownRemarks): { id: string } | { problem: string } {
  if (all.includes(named)) return { id: named };
  const numbered = /^[1-9]\d{0,5}$/.test(named) ? shown[Number(named) - 1] : undefined;
  if (numbered !== undefined) return { id: numbered };
  const alike = beginningWith(named, shown);
  const found = alike.length > 0 ? alike : beginningWith(named, all);
  const [id] = found;
  if (id === undefined) return { problem: unknown(named, { shown, all }) };
  return found.length === 1 ? { id } : { problem: `${named} could be ${found.join(" or ")}; type more of it` };
}

function beginningWith(named: string, ids: readonly string[]): string[] {
  return named === "" ? [] : ids.filter((id) => id.startsWith(named));
}

function unknown(named: string, { shown, all }: KnownRemarks): string {
  const nearest = closestTo(named, all);
  const numbers = shown.length === 0 ? "" : `, or by its number, 1 to ${shown.length}`;
  const meant = nearest === undefined ? "" : `. Did you mean ${nearest}?`;
  return `no remark of this review is called ${named}; name it by its id or the beginning of it${numbers}${meant}`;
}
