import type { ReviewedConversation } from "../analytics.ts";
import type { ReviewRound, RoundDecision, RoundRemark } from "./review-round.ts";

/** The rounds of one session as the conversations they are, for what is counted over many. */
export function conversationsOf(sessionId: string, rounds: readonly ReviewRound[]): ReviewedConversation[] {
  const byNumber = new Map<number, ReviewRound[]>();
  for (const round of rounds) byNumber.set(round.conversation, added(byNumber.get(round.conversation) ?? [], round));
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
export interface ReviewItem extends Omit<RoundRemark, "reopened"> {
  readonly conversation: number;
  /** The iterations in which it was made. */
  readonly iterations: readonly number[];
  readonly reopened: boolean;
  readonly decisions: readonly ItemDecision[];
  /** The run that the artifact came from when it was last made. */
  readonly runId?: string;
}

export interface ItemDecision extends Omit<RoundDecision, "id" | "processing_status"> {
  readonly iteration: number;
  readonly by: string;
  readonly at: string;
  /** The round of the session, and the decision in it. */
  readonly place: string;
}

export interface TimedRound extends ReviewRound {
  readonly n: number;
  readonly at: string;
}

/** Remarks in the order in which they were first made, each with its latest wording. */
export function itemsOf(rounds: readonly TimedRound[]): ReviewItem[] {
  const items = new Map<string, ReviewItem & { readonly decisions: ItemDecision[]; readonly iterations: number[] }>();
  for (const round of rounds) {
    const { conversation, iteration, artifact, by, at, n } = round;
    for (const [i, { id, processing_status: _, ...decision }] of round.decisions.entries()) {
      const key = keyOf(conversation, id);
      items.get(key)?.decisions.push({ ...decision, iteration, by, at, place: `${n}.${i}` });
    }
    for (const { reopened = false, ...remark } of round.remarks) {
      const key = keyOf(conversation, remark.id);
      const known = items.get(key);
      items.set(key, {
        ...remark,
        conversation,
        iterations: added(known?.iterations ?? [], iteration),
        reopened,
        decisions: known?.decisions ?? [],
        ...(artifact?.runId === undefined ? {} : { runId: artifact.runId }),
      });
    }
  }
  return [...items.values()];
}

/** Appends in place: one remark may have been made, and decided on, thousands of times. */
function added<T>(list: T[], one: T): T[] {
  list.push(one);
  return list;
}

function keyOf(conversation: number, id: string): string {
  return `${conversation} ${id}`;
}
