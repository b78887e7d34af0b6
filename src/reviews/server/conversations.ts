import { addTo } from "../../formats/text/collections.ts";
import { defined } from "../../protocol/defined.ts";
import type { ReviewItemView, ReviewRoundView } from "../../protocol/reviews/api.ts";
import type { ReviewedConversation } from "../analytics.ts";
import type { ReviewRound } from "./review-round.ts";

/** The rounds of one session as the conversations they are, for what is counted over many. */
export function conversationsOf(sessionId: string, rounds: readonly ReviewRound[]): ReviewedConversation[] {
  const byNumber = new Map<number, ReviewRound[]>();
  for (const round of rounds) addTo(byNumber, round.conversation, round);
  return [...byNumber].map(([number, its]) => {
    const answers = its.filter(({ outcome }) => outcome === "success");
    return {
      conversation: `${sessionId}/${number}`,
      reviewer: (answers.at(-1) ?? its.at(-1))?.agent ?? "",
      status: isConverged(its) ? "converged" : "open",
      answers: answers.map(({ iteration, remarks }) => ({ iteration, remarks })),
      decisions: its.flatMap(({ iteration, decisions }) =>
        decisions.map(({ id, status, reason_code, processing_status }) => ({
          iteration,
          id,
          status,
          reason_code,
          ack: processing_status,
        })),
      ),
      artifacts: answers.map(({ artifact }) => artifact?.digest ?? ""),
    };
  });
}

/** The last round had no remarks, or only settled ones. Other reasons to stop are known only to the requester. */
function isConverged(rounds: readonly ReviewRound[]): boolean {
  const last = rounds.findLast(({ outcome }) => outcome === "success");
  if (last === undefined) return false;
  const settled = new Map(rounds.flatMap(({ decisions }) => decisions.map(({ id, status }) => [id, status])));
  return last.remarks.every(({ id }) => settled.has(id) && settled.get(id) !== "partial");
}

/** A remark of one conversation with all that became of it. */
export interface ReviewItem extends Omit<ReviewItemView, "status" | "decisions"> {
  readonly decisions: readonly ItemDecision[];
}

export type ItemDecision = ReviewItemView["decisions"][number] & {
  /** The round of the session, and the decision in it. */
  readonly place: string;
};

/** Remarks in the order in which they were first made, each with its latest wording. */
export function itemsOf(rounds: readonly ReviewRoundView[]): ReviewItem[] {
  const items = new Map<string, ReviewItem & { readonly decisions: ItemDecision[]; readonly iterations: number[] }>();
  for (const round of rounds) {
    const { conversation, iteration, artifact, by, at, n } = round;
    for (const [i, { id, processing_status: _, ...decision }] of round.decisions.entries()) {
      const key = keyOf(conversation, id);
      items.get(key)?.decisions.push({ ...decision, iteration, by, at, place: `${n}.${i}` });
    }
    for (const { reopened = false, ...remark } of round.remarks) {
      const key = keyOf(conversation, remark.id);
      const { iterations = [], decisions = [] } = items.get(key) ?? {};
      // In place: one remark may have been made, and decided on, thousands of times.
      iterations.push(iteration);
      items.set(key, {
        ...remark,
        conversation,
        iterations,
        reopened,
        decisions,
        ...defined({ runId: artifact?.runId }),
      });
    }
  }
  return [...items.values()];
}

function keyOf(conversation: number, id: string): string {
  return `${conversation} ${id}`;
}
