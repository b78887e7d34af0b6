import { defined } from "../defined.ts";
import { maskFieldValues, maskValues, type Secret } from "../runs/sensitive.ts";
import type { InterruptView } from "./api.ts";
import { uncountedReasons } from "./counted-votes.ts";
import { gateRules, isApproval, tallyOf } from "./gate-rules.ts";
import { type Interrupt, revisionOf, type Vote } from "./interrupt.ts";

/** An interrupt as readers of its run and holders of its token see it. */
export function interruptView(runId: string, interrupt: Interrupt, secrets: readonly Secret[]): InterruptView {
  const { nodeId, interruptId, kind, key, requestedAt, data, resumeSchema, correlationId, deadlineMs } = interrupt;
  const approval = kind === "approval";
  const tally = approval ? { tally: tallyOf(interrupt, gateRules(data)) } : {};
  const shown = maskFieldValues(data, secrets);
  const edited = interrupt.edited && maskValues(interrupt.edited, secrets);
  const isHidden = approval && secrets.length > 0 && !(isSame(data, shown) && isSame(interrupt.edited, edited));
  return {
    runId,
    nodeId,
    interruptId,
    kind,
    key,
    data: shown,
    ...(isHidden ? { hidden: true as const } : {}),
    ...(resumeSchema === undefined ? {} : { resumeSchema: { ...resumeSchema } }),
    requestedAt,
    ...(deadlineMs === undefined ? {} : { deadline: new Date(deadlineMs).toISOString() }),
    ...(correlationId === undefined ? {} : { correlationId }),
    ...tally,
    ...(approval ? { votes: shownVotes(interrupt, secrets) } : {}),
    ...(interrupt.remarks.length === 0 ? {} : { remarks: maskValues([...interrupt.remarks], secrets) }),
    ...(edited === undefined ? {} : { edited }),
    revision: revisionOf(interrupt),
  };
}

function isSame(value: unknown, shown: unknown): boolean {
  return JSON.stringify(value) === JSON.stringify(shown);
}

/** Votes as they are shown, here and in an inbox: without what eligibility was found by. */
export function shownVotes(interrupt: Pick<Interrupt, "votes" | "data">, secrets: readonly Secret[]) {
  const why = notCountedIn(interrupt);
  return interrupt.votes.map((vote) => {
    const { voter, action, at, reason } = vote;
    const notCounted = why.get(vote);
    return {
      voter,
      action,
      at,
      ...defined({ reason: reason === undefined ? undefined : maskValues(reason, secrets), notCounted }),
    };
  });
}

/** Why votes of this interrupt do not count toward its quorum; a vote that does is not in it. */
export function notCountedIn({ votes, data }: Pick<Interrupt, "votes" | "data">): ReadonlyMap<Vote, string> {
  const approvals = uncountedReasons(votes.filter(isApproval), gateRules(data).minHumans);
  const others = uncountedReasons(
    votes.filter((vote) => !isApproval(vote)),
    0,
  );
  return new Map([...approvals, ...others]);
}
