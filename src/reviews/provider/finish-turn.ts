import { PROTOCOL_VERSION } from "../../formats/reviews/request.ts";
import type { Feedback } from "../../formats/reviews/response.ts";
import { type ErrorAnswer, type Turn, withDecisions } from "./begin-turn.ts";
import { type IssuedRemark, latestDecisions, type ReviewSession } from "./session.ts";

/** A reviewer's answer. Ids are derived from the matter and its place, so the same remark has the same id in later turns. */
export interface Review {
  readonly confidence: NonNullable<Feedback["confidence"]>;
  readonly positive_points: Feedback["positive_points"];
  readonly remarks: readonly ReviewRemark[];
  readonly general_summary: string;
}

export interface ReviewRemark {
  readonly id: string;
  readonly aspect: string;
  readonly description: string;
  readonly recommendation: string;
  /** Stands for the part of the artifact it is about; the same as long as that is. */
  readonly part: string;
}

export interface FinishedTurn {
  /** The response as JSON text without line breaks. */
  readonly response: string;
  readonly session: ReviewSession;
}

/** The answer to a turn that was reviewed, and what is remembered of it. */
export function finishTurn(turn: Turn, review: Review): FinishedTurn {
  const { request, fingerprint, decisions } = turn;
  const { iteration, artifact } = request;
  const before = withDecisions(turn.session, decisions);
  const remarks = stillWorthMaking(before, review.remarks);
  const response = JSON.stringify({
    protocol_version: PROTOCOL_VERSION,
    iteration,
    status: "success",
    feedback: {
      confidence: review.confidence,
      positive_points: review.positive_points,
      areas_for_improvement: remarks.map(({ remark: { part: _, ...shown }, reopened }) => ({
        ...shown,
        ...(reopened ? { "x-reopened": true } : {}),
      })),
      general_summary: review.general_summary,
    },
    ...optionalMembers(turn),
  });
  const issued = withIssued(
    before.issued,
    remarks.map(({ remark }) => remark),
    iteration,
  );
  return {
    response,
    session: { ...before, last: iteration, issued, artifact, answered: { iteration, fingerprint, response } },
  };
}

export function errorResponse(answer: ErrorAnswer): string {
  const { iteration, code, message } = answer;
  return JSON.stringify({
    protocol_version: PROTOCOL_VERSION,
    iteration,
    status: "error",
    error: { code, message },
    ...optionalMembers(answer),
  });
}

function optionalMembers({ acknowledged, warnings }: Pick<Turn, "acknowledged" | "warnings">): object {
  return {
    ...(acknowledged === undefined ? {} : { applied_feedback_ack: { items: acknowledged } }),
    ...(warnings.length === 0 ? {} : { "x-warnings": warnings }),
  };
}

export interface RemarkWorthMaking {
  readonly remark: ReviewRemark;
  readonly reopened: boolean;
}

/**
 * Rejected remarks are not made again as long as the part they are about is unchanged. Remarks reported as fixed that still hold
 * are open again. The session has the decisions that came with the turn.
 */
export function stillWorthMaking(session: ReviewSession, remarks: readonly ReviewRemark[]): RemarkWorthMaking[] {
  const decided = latestDecisions(session);
  const earlier = new Map(session.issued.map((one) => [one.id, one]));
  return remarks.flatMap((remark): RemarkWorthMaking[] => {
    const decision = decided.get(remark.id);
    if (decision === undefined) return [{ remark, reopened: false }];
    if (decision.status !== "rejected") return [{ remark, reopened: true }];
    const made = earlier.get(remark.id);
    // Remarks made again since, because their part had changed, have no decision yet.
    const isUndecided = (made?.iterations.at(-1) ?? 0) >= decision.iteration;
    return made?.part === remark.part && !isUndecided ? [] : [{ remark, reopened: false }];
  });
}

function withIssued(
  issued: readonly IssuedRemark[],
  remarks: readonly ReviewRemark[],
  iteration: number,
): IssuedRemark[] {
  const all = new Map(issued.map((one) => [one.id, one]));
  for (const remark of remarks) {
    all.set(remark.id, { ...remark, iterations: [...(all.get(remark.id)?.iterations ?? []), iteration] });
  }
  return [...all.values()];
}
