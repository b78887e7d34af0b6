import { shownDigest } from "../../../formats/gates/gate-digest.ts";
import { defined } from "../../../protocol/defined.ts";
import {
  gateRules,
  isSelfApproval,
  mayDecide,
  mayOverride,
  tallyOf,
  type Voter,
} from "../../../protocol/gates/gate-rules.ts";
import type { InboxItem } from "../../../protocol/gates/inbox-api.ts";
import { type Interrupt, revisionOf, titleOf, type Vote } from "../../../protocol/gates/interrupt.ts";
import { shownVotes } from "../../../protocol/gates/interrupt-view.ts";
import { maskValues, type Secret } from "../../../protocol/runs/sensitive.ts";

/** An interrupt of any run. */
export interface Waiting {
  readonly runId: string;
  readonly workflowId: string;
  /** All principals that started or branched the run. */
  readonly starters: readonly string[];
  readonly interrupt: Interrupt;
}

/** Whether the inbox of a voter shows an interrupt: the voter could decide it, also in favour. */
export function waitsFor({ interrupt, starters }: Waiting, answerer: Voter): boolean {
  if (answerer.mayNotAnswer) return false;
  if (interrupt.kind !== "approval") return true;
  const rules = gateRules(interrupt.data);
  if (isSelfApproval(rules, answerer, starters)) return false;
  if (mayDecide(rules, answerer).eligible) return true;
  return rules.governed !== undefined && mayOverride(rules.governed, answerer).eligible;
}

/** An item without the members that depend on the reader. */
export type ShownItem = Omit<InboxItem, "ageSeconds" | "mine">;

export function shownItem({ runId, workflowId, interrupt }: Waiting, secrets: readonly Secret[]): ShownItem {
  const { interruptId, nodeId, kind, requestedAt, deadlineMs, correlationId, data } = interrupt;
  const { description } = data;
  return {
    interruptId,
    runId,
    nodeId,
    workflowId,
    kind,
    title: maskValues(titleOf(interrupt), secrets),
    requestedAt,
    deadline: deadlineMs === undefined ? null : new Date(deadlineMs).toISOString(),
    ...(kind === "approval" ? approval(interrupt, secrets) : ANSWERED_BY_ONE),
    revision: revisionOf(interrupt),
    artifactDigest: shownDigest(interrupt, secrets),
    ...defined({ correlationId }),
    ...(typeof description === "string" ? { description: maskValues(description, secrets) } : {}),
  };
}

const ANSWERED_BY_ONE = { required: 1, granted: 0, rejected: 0, votes: [], governed: false };

function approval(interrupt: Interrupt, secrets: readonly Secret[]) {
  const rules = gateRules(interrupt.data);
  const { required, granted, rejected } = tallyOf(interrupt, rules);
  const { requiredRole, requiredScope } = rules.governed ?? {};
  return {
    required,
    granted,
    rejected,
    votes: shownVotes(interrupt, secrets),
    actions: [...rules.actions],
    governed: rules.governed !== undefined,
    ...defined({ requiredRole, requiredScope }),
  };
}

export function itemFor(item: ShownItem, principal: string, nowMs: number): InboxItem {
  const age = Math.floor((nowMs - Date.parse(item.requestedAt)) / 1000);
  return { ...item, ageSeconds: Math.max(0, age), mine: voteOf(item, principal) ?? null };
}

export function voteOf(
  { votes }: { readonly votes: readonly Pick<Vote, "voter" | "action">[] },
  principal: string,
): Vote["action"] | undefined {
  return votes.find(({ voter }) => voter === principal)?.action;
}
