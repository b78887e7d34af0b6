import { type Conversation, openRemarks, pendingDecisions } from "./conversation.ts";

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
