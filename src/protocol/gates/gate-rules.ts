import { defined } from "../defined.ts";
import type { PrincipalKind } from "../identity/identity.ts";
import { roleContains } from "../identity/scopes.ts";
import type { RequiredEval } from "../promotion/evidence.ts";
import { countedVotes, isHuman } from "./counted-votes.ts";
import {
  APPROVAL_ACTIONS,
  type ApprovalAction,
  AUTH_REQUIRED,
  type Interrupt,
  REJECTION_POLICIES,
  type RejectionPolicy,
  type Vote,
} from "./interrupt.ts";

/** The rules of a gate, read from the data of its interrupt. Engine, inbox and console read it here. */
export interface GateRules {
  readonly actions: readonly ApprovalAction[];
  readonly required: number;
  readonly rejectionPolicy: RejectionPolicy;
  readonly approvers: readonly string[];
  readonly groups: readonly string[];
  readonly roles: readonly string[];
  readonly forbidSelfApproval: boolean;
  /** How many of those who accept must be people. */
  readonly minHumans: number;
  /** False: a vote need not say what it was given for. */
  readonly requireBoundVotes: boolean;
  /** Principals whose key another one made do not approve until an owner confirms them. */
  readonly requireIndependentVoters: boolean;
  readonly governed?: GovernedRules;
}

export interface GovernedRules {
  readonly gateId: string;
  readonly requiredRole?: string;
  readonly requiredScope?: string;
  readonly overrideRole?: string;
  readonly overrideBypassesQuorum: boolean;
  readonly requiredEval?: RequiredEval;
}

export function gateRules(data: Interrupt["data"]): GateRules {
  const gateId = textOf(data["gateId"]);
  const minHumans = countOf(data["minHumans"]) ?? 0;
  const asked = countOf(gateId === undefined ? data["requiredApprovals"] : data["quorum"]) ?? 1;
  return {
    actions: APPROVAL_ACTIONS.filter((action) => textsOf(data["actions"]).includes(action)),
    // People cannot be more than all.
    required: Math.max(1, asked, minHumans),
    rejectionPolicy: REJECTION_POLICIES.find((policy) => policy === data["rejectionPolicy"]) ?? "single-veto",
    approvers: textsOf(data["approversList"]),
    groups: textsOf(data["approverGroupRefs"]),
    roles: textsOf(data["approverRoleRefs"]),
    forbidSelfApproval: data["forbidSelfApproval"] === true,
    minHumans,
    requireBoundVotes: data["requireBoundVotes"] !== false,
    requireIndependentVoters: data["requireIndependentVoters"] === true,
    ...(gateId === undefined ? {} : { governed: governedRules(gateId, data) }),
  };
}

function governedRules(gateId: string, data: Interrupt["data"]): GovernedRules {
  const requiredRole = textOf(data["requiredRole"]);
  const requiredScope = textOf(data["requiredScope"]);
  const override = data["override"] as { readonly requiredRole?: unknown } | undefined;
  const overrideRole = textOf(override?.requiredRole);
  const requiredEval = data["requiredEval"] as RequiredEval | undefined;
  return {
    gateId,
    ...defined({ requiredRole, requiredScope, overrideRole, requiredEval }),
    overrideBypassesQuorum: data["overrideBypassesQuorum"] === true,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}

function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}

/** Whether the rules say who may decide. Then only the authenticated principal is the voter. */
export function namesVoters(rules: GateRules): boolean {
  return namesPrincipals(rules) || rules.minHumans > 0;
}

/** The same without `minHumans`: a relay that is trusted to know people may name voters there. */
export function namesPrincipals({ governed, approvers, groups, roles, forbidSelfApproval }: GateRules): boolean {
  return approvers.length + groups.length + roles.length > 0 || governed !== undefined || forbidSelfApproval;
}

/**
 * A token identifies the interrupt and not its holder, so it opens no gate that depends on the voter. A quorum of different people
 * does: a voter with a key could vote once more with the token.
 */
export function tokenAllowed({
  kind,
  data,
  profile,
  inherited,
}: Pick<Interrupt, "kind" | "data" | "profile" | "inherited">): boolean {
  if (inherited) return false;
  if (profile === AUTH_REQUIRED || data["profile"] === AUTH_REQUIRED) return false;
  if (kind !== "approval") return true;
  const rules = gateRules(data);
  return !namesVoters(rules) && rules.required === 1;
}

/** The principal that votes, with its current roles and groups. */
export interface Voter {
  readonly principal: string;
  readonly kind: PrincipalKind | "token";
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  /** Whether the key and one of the roles grant the scope. */
  grants(scope: string): boolean;
  /** The makers of the key, and their makers, as far as no owner has confirmed it. */
  readonly makers?: readonly string[];
  /** Set where the principal's roles allow no answers in the workspace of the run, although they do where its key is from. */
  readonly mayNotAnswer?: true;
}

export type Eligibility =
  /** `by` is what made it so, recorded with the vote: membership is never looked up again. */
  { readonly eligible: true; readonly by: readonly string[] } | { readonly eligible: false; readonly problem: string };

export function mayDecide(rules: GateRules, answerer: Voter): Eligibility {
  return rules.governed === undefined ? mayDecidePlain(rules, answerer) : mayDecideGoverned(rules.governed, answerer);
}

function mayDecidePlain({ approvers, groups, roles }: GateRules, answerer: Voter): Eligibility {
  if (approvers.length + groups.length + roles.length === 0) return { eligible: true, by: [] };
  const by = [
    ...(approvers.includes(answerer.principal) ? ["approversList"] : []),
    ...groups.filter((group) => answerer.groups.includes(group)).map((group) => `group:${group}`),
    ...roles.filter((role) => holds(answerer, role)).map((role) => `role:${role}`),
  ];
  if (by.length > 0) return { eligible: true, by };
  return { eligible: false, problem: `${answerer.principal} is not among the approvers of this gate` };
}

/** Both where both are asked for. */
function mayDecideGoverned({ requiredRole, requiredScope }: GovernedRules, answerer: Voter): Eligibility {
  if (requiredRole === undefined && requiredScope === undefined) {
    return { eligible: false, problem: "this gate names neither a role nor a scope, so no principal may open it" };
  }
  if (requiredRole !== undefined && !holds(answerer, requiredRole)) {
    return {
      eligible: false,
      problem: `this gate needs role ${requiredRole}, which ${answerer.principal} does not hold`,
    };
  }
  if (requiredScope !== undefined && !answerer.grants(requiredScope)) {
    return { eligible: false, problem: `this gate needs scope ${requiredScope}, which this key does not have` };
  }
  const by = [
    ...(requiredRole === undefined ? [] : [`role:${requiredRole}`]),
    ...(requiredScope === undefined ? [] : [`scope:${requiredScope}`]),
  ];
  return { eligible: true, by };
}

export function mayOverride({ overrideRole }: GovernedRules, answerer: Voter): Eligibility {
  if (overrideRole === undefined) return { eligible: false, problem: "this gate has no override" };
  if (holds(answerer, overrideRole)) return { eligible: true, by: [`role:${overrideRole}`] };
  return {
    eligible: false,
    problem: `overriding needs role ${overrideRole}, which ${answerer.principal} does not hold`,
  };
}

function holds({ roles }: Voter, required: string): boolean {
  return roles.some((role) => roleContains(role, required));
}

/** Whether a starter of the run approves it. Where no starter is known, every principal counts as one. */
export function isSelfApproval(
  rules: Pick<GateRules, "forbidSelfApproval">,
  { principal }: Pick<Voter, "principal">,
  starters: readonly string[],
): boolean {
  return rules.forbidSelfApproval && (starters.length === 0 || starters.includes(principal));
}

/**
 * Whether an approval would come from a principal that another one made, or from the unknown holder of a token, at a gate that
 * asks for independent voters.
 */
export function isDependent(
  { requireIndependentVoters }: Pick<GateRules, "requireIndependentVoters">,
  { kind, makers = [] }: Pick<Voter, "kind" | "makers">,
): boolean {
  return requireIndependentVoters && (kind === "token" || makers.length > 0);
}

/**
 * Whether makers of those behind a run count as those behind it: a principal that asks through one it made, and approves itself, is
 * one principal.
 */
export function excludesMakersOfStarters({
  forbidSelfApproval,
  requireIndependentVoters,
}: Pick<GateRules, "forbidSelfApproval" | "requireIndependentVoters">): boolean {
  return forbidSelfApproval && requireIndependentVoters;
}

export interface Tally {
  readonly granted: number;
  readonly rejected: number;
  readonly humans: number;
  readonly required: number;
}

export function isApproval({ action }: Pick<Vote, "action">): boolean {
  return action === "accept" || action === "edit-accept";
}

/** How a gate ended that was not decided before its deadline. */
export function timedOutText(required: number, given: number): string {
  return `${required} ${required === 1 ? "approval" : "approvals"} asked, ${given} given, timed out`;
}

/** Votes of principals that made each other, without an owner's word, are one: see `countedVotes`. */
export function tallyOf(
  { votes }: Pick<Interrupt, "votes">,
  { required, minHumans }: Pick<GateRules, "required" | "minHumans">,
): Tally {
  const accepts = countedVotes(votes.filter(isApproval), minHumans);
  const rejects = countedVotes(votes.filter((vote) => !isApproval(vote)));
  const humans = accepts.filter(isHuman).length;
  return { granted: accepts.length, rejected: rejects.length, humans, required };
}

/** A governed reject always vetoes. */
export function verdictOf(tally: Tally, rules: GateRules): "granted" | "rejected" | undefined {
  const vetoes = rules.governed !== undefined || rules.rejectionPolicy === "single-veto";
  const against = vetoes ? 1 : Math.floor(tally.required / 2) + 1;
  if (tally.rejected >= against) return "rejected";
  return tally.granted >= tally.required && tally.humans >= rules.minHumans ? "granted" : undefined;
}
