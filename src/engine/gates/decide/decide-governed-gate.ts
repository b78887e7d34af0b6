import { defined } from "../../../protocol/defined.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { EventDraft } from "../../../protocol/events.ts";
import { strengthOf } from "../../../protocol/gates/counted-votes.ts";
import {
  type GateRules,
  type GovernedRules,
  gateRules,
  mayDecide,
  mayOverride,
  tallyOf,
  type Voter,
  verdictOf,
} from "../../../protocol/gates/gate-rules.ts";
import type { Vote } from "../../../protocol/gates/interrupt.ts";
import { isObject } from "../../../protocol/own.ts";
import { type Evidence, problemIn } from "../../../protocol/promotion/evidence.ts";
import { closeInterrupt } from "./close-interrupt.ts";
import { type GovernedAnswer, governedAnswer } from "./gate-answer.ts";
import {
  denied,
  notIndependent,
  originOf,
  type Ruling,
  refusedVote,
  repeatedVote,
  VOTER_HOLDS_KEY,
  type VoteCommand,
} from "./vote.ts";

/** A vote at a governed gate. The right to vote is checked before the form of the answer. */
export function decideGovernedGate(answer: VoteCommand): Ruling {
  const { interrupt, answerer, value } = answer;
  const rules = gateRules(interrupt.data);
  if (rules.governed === undefined) throw new Error(`interrupt ${interrupt.interruptId} is not of a governed gate`);
  const eligibility = claimsOverride(value) ? mayOverride(rules.governed, answerer) : mayDecide(rules, answerer);
  if (!eligibility.eligible) return denied(interrupt, answerer, eligibility.problem);
  const given = governedAnswer(value, interrupt);
  if (given.voter !== undefined && given.voter !== answerer.principal) {
    return denied(interrupt, answerer, VOTER_HOLDS_KEY);
  }
  const gate = rules.governed;
  const problem = given.decision === "granted" ? notIndependent(rules, answerer, answer) : undefined;
  if (problem !== undefined) return denied(interrupt, answerer, problem);
  answer.checkBinding(true);
  const earlier = interrupt.votes.find(({ voter }) => voter === answerer.principal);
  if (earlier !== undefined && !mayReplace(earlier, given, answerer)) {
    const action = actionOf(given);
    return action === earlier.action ? repeatedVote(interrupt, earlier) : refusedVote(interrupt, earlier, action);
  }
  const vote = { ...answer, rules, gate, given, eligibleBy: eligibility.by };
  return given.decision === "granted" && gate.requiredEval !== undefined ? provenVote(vote) : voted(vote);
}

function claimsOverride(value: unknown): boolean {
  return isObject(value) && value["override"] === true;
}

/**
 * An override replaces the same voter's grant. A vote with a stronger key replaces any: the vote of an agent with a principal's key must not
 * keep the person from deciding.
 */
function mayReplace(earlier: Vote, given: GovernedAnswer, { principal, kind, makers }: Voter): boolean {
  if (given.override && earlier.action === "accept" && earlier.override !== true) return true;
  const now = defined({ voter: principal, principal, kind, makers });
  return strengthOf(now) > strengthOf(earlier);
}

/** No grant counts without the evidence, not even an override. */
function provenVote(counted: Counted): Ruling {
  const { interrupt, gate, answerer, evidence = NO_EVIDENCE } = counted;
  const { conditions, preconditions } = evidence;
  const { interruptId, nodeId } = interrupt;
  const ruling = voted({ ...counted, evidence });
  if (conditions.length > 0 && conditions.every(({ met }) => met)) return { ...ruling, preconditions };
  const details = { interruptId, nodeId, gateId: gate.gateId, voter: answerer.principal, conditions };
  const { requiredEval } = gate;
  const refusal = new AppError("eval_gate_unmet", {
    problem: problemIn(conditions),
    nodeId,
    interruptId,
    requiredEval,
    conditions,
  });
  return { events: [], audit: [{ action: "interrupt.evidence_unmet", details }], refusal };
}

const NO_EVIDENCE: Evidence = {
  conditions: [
    { condition: "evaluation found", wanted: "an evaluation", found: "this host cannot read evaluations", met: false },
  ],
  preconditions: [],
};

interface Counted extends VoteCommand {
  readonly rules: GateRules;
  readonly gate: GovernedRules;
  readonly given: GovernedAnswer;
  readonly eligibleBy: readonly string[];
}

function voted(counted: Counted): Ruling {
  const { interrupt, gate, given, answerer, evidence } = counted;
  const { interruptId, nodeId } = interrupt;
  const { principal } = answerer;
  const proven = evidence === undefined ? {} : { conditions: evidence.conditions };
  const reason = defined({ reason: given.reason });
  const subject = { interruptId, nodeId, gateId: gate.gateId };
  const verdict = verdictWith(counted);
  const audit = [
    given.override
      ? { action: "approval.overridden", details: { ...subject, ...reason, ...proven } }
      : { action: "interrupt.voted", details: { ...subject, voter: principal, action: actionOf(given), ...proven } },
    ...(verdict === undefined ? [] : [{ action: "interrupt.resolved", details: { ...subject, outcome: verdict } }]),
  ];
  return { events: [voteEvent(counted), ...gateEvents(counted), ...closing(counted, verdict)], audit };
}

function actionOf({ decision }: GovernedAnswer): "accept" | "reject" {
  return decision === "granted" ? "accept" : "reject";
}

function votesWith({ interrupt, answerer, given, at }: Counted): Vote[] {
  const { principal, kind } = answerer;
  const others = interrupt.votes.filter(({ voter }) => voter !== principal);
  const origin = originOf(principal, answerer);
  return [...others, { voter: principal, principal, kind, action: actionOf(given), at, ...origin }];
}

function verdictWith(counted: Counted): "granted" | "rejected" | undefined {
  const { rules } = counted;
  return opensAlone(counted) ? "granted" : verdictOf(tallyOf({ votes: votesWith(counted) }, rules), rules);
}

/** An override opens the gate alone only where the gate says so, and never in place of the people it asks for. */
function opensAlone(counted: Counted): boolean {
  const { rules, gate, given } = counted;
  if (!given.override || !gate.overrideBypassesQuorum) return false;
  return tallyOf({ votes: votesWith(counted) }, rules).humans >= rules.minHumans;
}

function voteEvent({ interrupt, answerer, given, eligibleBy, evidence }: Counted): EventDraft {
  const { principal, kind } = answerer;
  const earlier = interrupt.votes.find(({ voter }) => voter === principal);
  return {
    type: "assay.vote.recorded",
    nodeId: interrupt.nodeId,
    payload: {
      interruptId: interrupt.interruptId,
      voter: principal,
      principal,
      principalKind: kind,
      action: actionOf(given),
      ...defined({ reason: given.reason }),
      ...(given.override ? { override: true as const } : {}),
      eligibleBy: [...eligibleBy],
      ...(earlier === undefined ? {} : { replaces: earlier.action }),
      ...originOf(principal, answerer),
      ...(evidence === undefined ? {} : { evidence: [...evidence.conditions] }),
    },
  };
}

function gateEvents(counted: Counted): EventDraft[] {
  const { interrupt, rules, gate, given, answerer } = counted;
  const { nodeId } = interrupt;
  const { gateId } = gate;
  const { principal }: Voter = answerer;
  if (given.decision === "rejected") {
    const reason = defined({ reason: given.reason });
    return [{ type: "approval.rejected", nodeId, payload: { gateId, principal, ...reason } }];
  }
  const { granted, required } = tallyOf({ votes: votesWith(counted) }, rules);
  const quorumProgress = required > 1 || given.override ? { quorumProgress: { granted, required } } : {};
  const grant: EventDraft = { type: "approval.granted", nodeId, payload: { gateId, principal, ...quorumProgress } };
  if (!given.override) return isNewGrant(counted) ? [grant] : [];
  const payload = { gateId, principal, reason: given.reason ?? "" };
  const overridden: EventDraft = { type: "approval.overridden", nodeId, payload };
  return countsAsVote(counted) ? [overridden, grant] : [overridden];
}

/** An override is a vote unless it opens the gate alone or its principal has granted before: a grant is counted once. */
function countsAsVote(counted: Counted): boolean {
  return !opensAlone(counted) && isNewGrant(counted);
}

/** A grant of a principal that has granted before is a new one only where more count by it. */
function isNewGrant(counted: Counted): boolean {
  const { interrupt, answerer, rules } = counted;
  if (!interrupt.votes.some(({ voter }) => voter === answerer.principal)) return true;
  return tallyOf({ votes: votesWith(counted) }, rules).granted > tallyOf(interrupt, rules).granted;
}

function closing(
  { interrupt, given, answerer, at }: Counted,
  verdict: "granted" | "rejected" | undefined,
): EventDraft[] {
  if (verdict === undefined) return [];
  const reason = defined({ reason: given.reason });
  const resolvedBy = answerer.principal;
  return closeInterrupt(interrupt, { outcome: verdict, ...reason, resolvedBy, resumeValue: given.value, at });
}
