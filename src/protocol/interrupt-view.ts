import type { InterruptView } from "./gate-api.ts";
import { gateRules, tallyOf } from "./gate-rules.ts";
import type { Interrupt } from "./interrupt.ts";
import { maskFieldValues, maskValues, type Secret } from "./sensitive.ts";

/** An interrupt as it is shown to whoever may read its run, or holds its token. */
export function interruptView(runId: string, interrupt: Interrupt, secrets: readonly Secret[]): InterruptView {
  const { nodeId, interruptId, kind, key, requestedAt, data, resumeSchema, correlationId, deadlineMs } = interrupt;
  const approval = kind === "approval";
  const tally = approval ? { tally: tallyOf(interrupt, gateRules(data)) } : {};
  return {
    runId,
    nodeId,
    interruptId,
    kind,
    key,
    data: maskFieldValues(data, secrets),
    ...(resumeSchema === undefined ? {} : { resumeSchema: { ...resumeSchema } }),
    requestedAt,
    ...(deadlineMs === undefined ? {} : { deadline: new Date(deadlineMs).toISOString() }),
    ...(correlationId === undefined ? {} : { correlationId }),
    ...tally,
    ...(approval ? { votes: shownVotes(interrupt, secrets) } : {}),
    ...(interrupt.remarks.length === 0 ? {} : { remarks: maskValues([...interrupt.remarks], secrets) }),
    ...(interrupt.edited === undefined ? {} : { edited: maskValues(interrupt.edited, secrets) }),
  };
}

/** Votes as they are shown, here and in an inbox: without what eligibility was found by. */
export function shownVotes({ votes }: Pick<Interrupt, "votes">, secrets: readonly Secret[]) {
  return votes.map(({ voter, action, at, reason }) => ({
    voter,
    action,
    at,
    ...(reason === undefined ? {} : { reason: maskValues(reason, secrets) }),
  }));
}
