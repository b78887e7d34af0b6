import { defined } from "../../../protocol/defined.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { EventDraft } from "../../../protocol/events.ts";
import { strengthOf } from "../../../protocol/gates/counted-votes.ts";
import {
  excludesMakersOfStarters,
  type GateRules,
  gateRules,
  isApproval,
  isDependent,
  isSelfApproval,
  mayDecide,
  namesPrincipals,
  namesVoters,
  type Tally,
  tallyOf,
  type Voter,
  verdictOf,
} from "../../../protocol/gates/gate-rules.ts";
import type { Interrupt, Vote } from "../../../protocol/gates/interrupt.ts";
import type { Evidence } from "../../../protocol/promotion/evidence.ts";
import { deepEqual } from "../../schemas/decide/deep-equal.ts";
import { checkSchema } from "./answer-interrupt.ts";
import { type PlainAnswer, plainAnswer } from "./approval-answer.ts";
import { closeInterrupt } from "./close-interrupt.ts";
import { denied, type Ruling, refusedVote } from "./ruling.ts";
import { originOf, type Relay } from "./vote-origin.ts";

export interface GateAnswer {
  readonly interrupt: Interrupt;
  readonly value: unknown;
  readonly answerer: Voter;
  /** The voter that the answer names; absent where the key may not relay votes. */
  readonly relay?: Relay;
  /** Throws `vote_not_bound`. A question at the gate is no vote: it need not say what it is about. */
  readonly checkBinding: (isVote: boolean) => void;
  /** Everyone behind the run. */
  readonly starters: readonly string[];
  /** Makers of those behind the run; given only where they may not approve it. */
  readonly makersOfStarters?: readonly string[];
  readonly at: string;
  /** How the evaluation stands that a governed gate asks for. */
  readonly evidence?: Evidence;
}

/** The refusal of a vote by one of those behind the run. */
const OWN_RUN = "whoever started or branched the run, or one that it comes from, cannot approve it";

/** The refusal of an approval by a principal that another one made. */
const DEPENDENT =
  "the gate asks for independent voters: vote with a key of your own, and where it was made over the API have another owner confirm the principal (assay principal confirm)";

/** The refusal of an approval by a principal that made one of those behind the run. */
const MADE_A_STARTER =
  "the gate asks for independent voters, and you made a key of a principal behind this run; another owner has to confirm that principal (assay principal confirm), or another principal has to approve";

/** Why a principal with the right to vote may not approve this run; undefined where it may. */
export function notIndependent(
  rules: GateRules,
  answerer: Pick<Voter, "principal" | "kind" | "makers">,
  { starters, makersOfStarters = [] }: Pick<GateAnswer, "starters" | "makersOfStarters">,
): string | undefined {
  if (isSelfApproval(rules, answerer, starters)) return OWN_RUN;
  if (isDependent(rules, answerer)) return DEPENDENT;
  return excludesMakersOfStarters(rules) && makersOfStarters.includes(answerer.principal) ? MADE_A_STARTER : undefined;
}

/** A vote at `core.approvalGate`, and the end of the gate when it is the last one needed. */
export function decidePlainGate(answer: GateAnswer): Ruling {
  const { interrupt, answerer } = answer;
  const rules = gateRules(interrupt.data);
  const eligibility = mayDecide(rules, answerer);
  if (!eligibility.eligible) return denied(interrupt, answerer, eligibility.problem);
  const given = plainAnswer(answer.value, rules);
  checkSchema(interrupt, answer.value);
  const voter = voterOf(rules, given, answer);
  if (typeof voter !== "string") return voter;
  const { makers = [] } = originOf(voter, answerer, answer.relay);
  const problem = approves(given) ? notIndependent(rules, { ...answerer, makers }, answer) : undefined;
  if (problem !== undefined) return denied(interrupt, answerer, problem);
  answer.checkBinding(given.action !== "ask");
  if (given.action === "ask") return asked(interrupt, voter, given.text ?? "");
  const earlier = interrupt.votes.find((vote) => vote.voter === voter);
  const counted = { ...answer, rules, given, voter, eligibleBy: eligibility.by, ...(earlier ? { earlier } : {}) };
  if (earlier === undefined) return voted(counted);
  const stronger = strengthOf(voteOf(counted)) - strengthOf(earlier);
  if (earlier.action === given.action && sameEdit(interrupt, given) && stronger <= 0)
    return repeated(interrupt, earlier);
  return stronger < 0 ? refusedVote(interrupt, earlier, given.action) : voted(counted);
}

function approves({ action }: PlainAnswer): boolean {
  return action === "accept" || action === "edit-accept";
}

/** A name in the body counts only where nobody is named and the key may relay; the refusal is about who asks. */
function voterOf(
  rules: GateRules,
  { voter }: PlainAnswer,
  { interrupt, answerer, relay }: GateAnswer,
): string | Ruling {
  if (voter === undefined || voter === answerer.principal) return answerer.principal;
  const namesOthers = relay?.trusted === true ? namesPrincipals(rules) : namesVoters(rules);
  if (namesOthers) return denied(interrupt, answerer, "at this gate the voter is whoever holds the key");
  if (relay === undefined) {
    return denied(
      interrupt,
      answerer,
      "a vote for another principal needs scope approvals:relay by name, in key and role",
    );
  }
  return relay.known ? voter : denied(interrupt, answerer, UNKNOWN_VOTER);
}

const UNKNOWN_VOTER =
  "a relayed voter must be a principal with a key here that works and that the relay did not make; make one for it first";

function sameEdit({ edited }: Interrupt, { edited: given }: PlainAnswer): boolean {
  return given === undefined || (edited !== undefined && deepEqual(edited.data, given.data));
}

/** What was asked stays in the run, which every commit writes whole. */
const REMARKS_MAX = 200;

function asked({ interruptId, nodeId, remarks }: Interrupt, by: string, text: string): Ruling {
  if (remarks.length >= REMARKS_MAX) {
    const problem = `${REMARKS_MAX} questions and answers were given at this gate, and no more can be: decide it`;
    throw new AppError("validation_error", { problem, interruptId, nodeId });
  }
  return {
    events: [{ type: "assay.gate.asked", nodeId, payload: { interruptId, by, text } }],
    audit: [{ action: "interrupt.asked", details: { interruptId, nodeId, by } }],
  };
}

/** Two keys of one principal, or the same request again: still one vote. */
function repeated({ interruptId, nodeId }: Interrupt, { voter, action, at }: Vote): Ruling {
  const details = { interruptId, nodeId, voter, action, earlierAction: action, earlierAt: at };
  return { events: [], audit: [{ action: "interrupt.vote_repeated", details }] };
}

interface Counted extends GateAnswer {
  readonly rules: GateRules;
  readonly given: PlainAnswer;
  readonly voter: string;
  readonly eligibleBy: readonly string[];
  readonly earlier?: Vote;
}

function voted(counted: Counted): Ruling {
  const { interrupt, rules, given, voter, earlier } = counted;
  const { interruptId, nodeId } = interrupt;
  const vote = voteEvent(counted);
  const after = { votes: votesWith(counted) };
  const verdict = verdictOf(tallyOf(after, rules), rules);
  const details = {
    interruptId,
    nodeId,
    voter,
    action: given.action,
    ...(earlier === undefined ? {} : { earlierAction: earlier.action, earlierAt: earlier.at }),
  };
  const audit = [{ action: "interrupt.voted", details }];
  if (verdict === undefined) return { events: [vote], audit };
  return {
    events: [vote, ...decided(counted, verdict)],
    audit: [...audit, { action: "interrupt.resolved", details: { interruptId, nodeId, outcome: verdict } }],
  };
}

/** The votes as the fold of the event will have them. */
function votesWith(counted: Counted): Vote[] {
  const { interrupt, given, voter } = counted;
  const edits = given.action === "edit-accept";
  const others = interrupt.votes.filter((vote) => vote.voter !== voter && !(edits && isApproval(vote)));
  return [...others, voteOf(counted)];
}

function voteOf({ given, voter, answerer, relay, at }: Counted): Vote {
  const { principal, kind } = answerer;
  return { voter, principal, kind, action: given.action, at, ...originOf(voter, answerer, relay) };
}

function voteEvent({ interrupt, given, voter, answerer, relay, eligibleBy, earlier }: Counted): EventDraft {
  const reason = given.feedback ?? (given.refineFeedback?.["text"] as string | undefined);
  return {
    type: "assay.vote.recorded",
    nodeId: interrupt.nodeId,
    payload: {
      interruptId: interrupt.interruptId,
      voter,
      principal: answerer.principal,
      principalKind: answerer.kind,
      action: given.action,
      ...defined({ reason }),
      ...(eligibleBy.length === 0 ? {} : { eligibleBy: [...eligibleBy] }),
      ...(earlier === undefined ? {} : { replaces: earlier.action }),
      ...(given.edited === undefined ? {} : { editedArtifactData: given.edited.data }),
      ...originOf(voter, answerer, relay),
    },
  };
}

/** `ask` closes nothing and never gets here. */
type ClosingAction = Exclude<PlainAnswer["action"], "ask">;

/** The closing vote speaks for the gate: with accepts, as whoever edited last left the artifact. */
function decided(counted: Counted, verdict: "granted" | "rejected"): EventDraft[] {
  const { interrupt, rules, given, voter, at } = counted;
  const { nodeId } = interrupt;
  const decidedBy = rules.required === 1 ? voter : quorumName(tallyOf({ votes: votesWith(counted) }, rules), verdict);
  const edited = given.edited ?? (verdict === "granted" ? interrupt.edited : undefined);
  const action = verdict === "granted" && edited !== undefined ? "edit-accept" : (given.action as ClosingAction);
  const what = {
    ...defined({ feedback: given.feedback }),
    ...(given.refineFeedback === undefined ? {} : { refineFeedback: { ...given.refineFeedback } }),
    ...(edited === undefined ? {} : { editedArtifactData: edited.data }),
  };
  const resumeValue = { action, ...what, decidedBy, decidedAt: at };
  const outcome = verdict === "granted" ? "granted" : action === "refine" ? "refined" : "rejected";
  const reason = defined({ reason: given.feedback });
  return [
    { type: "approval.received", nodeId, payload: { nodeId, action, decidedBy, decidedAt: at, ...what } },
    ...closeInterrupt(interrupt, { outcome, ...reason, resolvedBy: decidedBy, resumeValue, at }),
  ];
}

function quorumName({ granted, rejected, required }: Tally, verdict: "granted" | "rejected"): string {
  return `quorum:${verdict === "granted" ? granted : rejected}-of-${required}`;
}
