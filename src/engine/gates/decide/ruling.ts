import type { AuditDraft } from "../../../protocol/audit/audit.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { EventDraft } from "../../../protocol/events.ts";
import { resourceOf } from "../../../protocol/evolve/interrupts.ts";
import type { Voter } from "../../../protocol/gates/gate-rules.ts";
import type { Interrupt, Vote } from "../../../protocol/gates/interrupt.ts";
import type { Precondition } from "../../../protocol/promotion/evidence.ts";

export type AuditNote = Pick<AuditDraft, "action" | "details">;

/** What is written about an answer, and whether the answer is refused all the same. */
export interface Ruling {
  readonly events: readonly EventDraft[];
  readonly audit: readonly AuditNote[];
  readonly refusal?: AppError;
  /** What else it was decided on. */
  readonly preconditions?: readonly Precondition[];
}

/** A vote that may not take the place of an earlier one of the same voter. The attempt is audited. */
export function refusedVote({ interruptId, nodeId }: Interrupt, earlier: Vote, action: Vote["action"]): Ruling {
  const { voter, action: earlierAction, at: earlierAt } = earlier;
  const details = { interruptId, nodeId, voter, action, earlierAction, earlierAt };
  const refusal = new AppError("vote_conflict", { interruptId, nodeId, voter, earlier: earlierAction });
  return { events: [], audit: [{ action: "interrupt.vote_refused", details }], refusal };
}

/** Beyond this many, further refusals at one interrupt leave no mark on the run. */
const DENIALS_MAX = 100;

/** Refused for who they are. Written down once for each principal: asking again and again must not fill the log. */
export function denied(interrupt: Interrupt, answerer: Voter, problem: string): Ruling {
  const { interruptId, nodeId } = interrupt;
  const refusal = new AppError("forbidden", { problem, nodeId, interruptId });
  const known = interrupt.denied ?? [];
  if (known.includes(answerer.principal) || known.length >= DENIALS_MAX) return { events: [], audit: [], refusal };
  const { principal } = answerer;
  const decided: EventDraft = {
    type: "authorization.decided",
    nodeId,
    payload: {
      principal,
      action: "approvals:respond",
      resource: resourceOf(interruptId),
      allowed: false,
      reason: problem,
    },
  };
  const note = { action: "authorization.denied", details: { interruptId, nodeId, reason: problem } };
  return { events: [decided], audit: [note], refusal };
}
