import { AppError } from "../../protocol/errors.ts";
import type { EventDraft } from "../../protocol/events.ts";
import {
  type GateRules,
  type GovernedRules,
  gateRules,
  isSelfApproval,
  type Judge,
  mayDecide,
  mayOverride,
  tallyOf,
  verdictOf,
} from "../../protocol/gate-rules.ts";
import type { Interrupt, Vote } from "../../protocol/interrupt.ts";
import { closeInterrupt } from "./close-interrupt.ts";
import type { GateAnswer } from "./decide-plain-gate.ts";
import { type GovernedAnswer, governedAnswer } from "./governed-answer.ts";
import { denied, type Ruling } from "./ruling.ts";

/** Who wants to pass a governed gate is asked first, then what they say. */
export function decideGovernedGate(answer: GateAnswer): Ruling {
  const { interrupt, judge, startedBy, value } = answer;
  const rules = gateRules(interrupt.data);
  if (rules.governed === undefined) throw new Error(`interrupt ${interrupt.interruptId} is not of a governed gate`);
  const eligibility = claimsOverride(value) ? mayOverride(rules.governed, judge) : mayDecide(rules, judge);
  if (!eligibility.eligible) return denied(interrupt, judge, eligibility.problem);
  const given = governedAnswer(value, interrupt);
  if (given.voter !== undefined && given.voter !== judge.principal) {
    return denied(interrupt, judge, "at this gate the voter is whoever holds the key");
  }
  const gate = rules.governed;
  if (given.decision === "granted") {
    if (isSelfApproval(rules, judge, startedBy)) {
      return denied(interrupt, judge, "whoever started the run cannot approve it");
    }
    requireEvidence(gate);
  }
  const earlier = interrupt.votes.find(({ voter }) => voter === judge.principal);
  if (earlier !== undefined && !takesOverride(earlier, given)) return votedBefore(interrupt, earlier, given);
  return voted({ ...answer, rules, gate, given, eligibleBy: eligibility.by });
}

function claimsOverride(value: unknown): boolean {
  return typeof value === "object" && value !== null && (value as { override?: unknown }).override === true;
}

/** No evaluation can be read yet, so no evidence is there; nothing stands in for it. */
function requireEvidence({ requiredEval }: GovernedRules): void {
  if (requiredEval === undefined) return;
  throw new AppError("eval_gate_unmet", {
    problem: "gates of workflows cannot look at evaluations yet; deployments can",
    requiredEval,
  });
}

/** Whoever has granted may still override: that is another path, and the same voter. */
function takesOverride(earlier: Vote, given: GovernedAnswer): boolean {
  return given.override && earlier.action === "accept" && earlier.override !== true;
}

/** A vote at a governed gate stands. */
function votedBefore({ interruptId, nodeId }: Interrupt, earlier: Vote, given: GovernedAnswer): Ruling {
  const action = given.decision === "granted" ? "accept" : "reject";
  const { voter, action: earlierAction, at: earlierAt } = earlier;
  const details = { interruptId, nodeId, voter, action, earlierAction, earlierAt };
  if (action === earlierAction) return { events: [], audit: [{ action: "interrupt.vote_repeated", details }] };
  const refusal = new AppError("vote_conflict", { interruptId, nodeId, voter, earlier: earlierAction });
  return { events: [], audit: [{ action: "interrupt.vote_refused", details }], refusal };
}

interface Counted extends GateAnswer {
  readonly rules: GateRules;
  readonly gate: GovernedRules;
  readonly given: GovernedAnswer;
  readonly eligibleBy: readonly string[];
}

function voted(counted: Counted): Ruling {
  const { interrupt, gate, given, judge } = counted;
  const { interruptId, nodeId } = interrupt;
  const { principal } = judge;
  const reason = given.reason === undefined ? {} : { reason: given.reason };
  const subject = { interruptId, nodeId, gateId: gate.gateId };
  const verdict = verdictWith(counted);
  const audit = [
    given.override
      ? { action: "approval.overridden", details: { ...subject, ...reason } }
      : { action: "interrupt.voted", details: { ...subject, voter: principal, action: actionOf(given) } },
    ...(verdict === undefined ? [] : [{ action: "interrupt.resolved", details: { ...subject, outcome: verdict } }]),
  ];
  return { events: [voteEvent(counted), ...gateEvents(counted), ...closing(counted, verdict)], audit };
}

function actionOf({ decision }: GovernedAnswer): "accept" | "reject" {
  return decision === "granted" ? "accept" : "reject";
}

function votesWith({ interrupt, judge, given, at }: Counted): Vote[] {
  const { principal, kind } = judge;
  const others = interrupt.votes.filter(({ voter }) => voter !== principal);
  return [...others, { voter: principal, principal, kind, action: actionOf(given), at }];
}

/** An override releases alone only where the gate says so, and never in place of the people it asks for. */
function verdictWith(counted: Counted): "granted" | "rejected" | undefined {
  const { rules, gate, given } = counted;
  const tally = tallyOf({ votes: votesWith(counted) }, rules);
  const alone = given.override && gate.overrideBypassesQuorum;
  return alone && tally.humans >= rules.minHumans ? "granted" : verdictOf(tally, rules);
}

function voteEvent({ interrupt, judge, given, eligibleBy }: Counted): EventDraft {
  const { principal, kind } = judge;
  return {
    type: "assay.vote.recorded",
    nodeId: interrupt.nodeId,
    payload: {
      interruptId: interrupt.interruptId,
      voter: principal,
      principal,
      principalKind: kind,
      action: actionOf(given),
      ...(given.reason === undefined ? {} : { reason: given.reason }),
      ...(given.override ? { override: true as const } : {}),
      eligibleBy: [...eligibleBy],
    },
  };
}

function gateEvents(counted: Counted): EventDraft[] {
  const { interrupt, rules, gate, given, judge } = counted;
  const { nodeId } = interrupt;
  const { gateId } = gate;
  const { principal }: Judge = judge;
  if (given.decision === "rejected") {
    const reason = given.reason === undefined ? {} : { reason: given.reason };
    return [{ type: "approval.rejected", nodeId, payload: { gateId, principal, ...reason } }];
  }
  if (given.override) {
    return [{ type: "approval.overridden", nodeId, payload: { gateId, principal, reason: given.reason ?? "" } }];
  }
  const { granted, required } = tallyOf({ votes: votesWith(counted) }, rules);
  const quorumProgress = required > 1 ? { quorumProgress: { granted, required } } : {};
  return [{ type: "approval.granted", nodeId, payload: { gateId, principal, ...quorumProgress } }];
}

function closing({ interrupt, given, judge, at }: Counted, verdict: "granted" | "rejected" | undefined): EventDraft[] {
  if (verdict === undefined) return [];
  const reason = given.reason === undefined ? {} : { reason: given.reason };
  const resolvedBy = judge.principal;
  return closeInterrupt(interrupt, { outcome: verdict, ...reason, resolvedBy, resumeValue: given.value, at });
}
