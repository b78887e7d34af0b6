import type { Voter } from "../../../protocol/gates/gate-rules.ts";
import { roleContains } from "../../../protocol/identity/scopes.ts";
import type { PrincipalSelector, QueueRules } from "../../../protocol/queues/api.ts";

type Person = Pick<Voter, "principal" | "kind" | "roles" | "groups">;

/** Agents and code only judge where they are meant to: a queue that names nobody is for people. */
export function mayReview({ assign }: Pick<QueueRules, "assign">, who: Person): boolean {
  return assign === undefined ? who.kind === "user" : isAmong(assign, who);
}

export function mayAdjudicate({ adjudicators }: Pick<QueueRules, "adjudicators">, who: Voter): boolean {
  return who.grants("queues:manage") || (adjudicators !== undefined && isAmong(adjudicators, who));
}

/** A role is held by many without thought, so that it counts for people only; others are named, or in a named group. */
function isAmong({ people = [], roles = [], groups = [] }: PrincipalSelector, who: Person): boolean {
  if (people.includes(who.principal) || groups.some((group) => who.groups.includes(group))) return true;
  return who.kind === "user" && roles.some((role) => who.roles.some((held) => roleContains(held, role)));
}
