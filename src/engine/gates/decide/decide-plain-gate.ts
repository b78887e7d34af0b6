import { defined } from "../../../protocol/defined.ts";
import { validationError } from "../../../protocol/errors.ts";
import type { EventDraft } from "../../../protocol/events.ts";
import { strengthOf } from "../../../protocol/gates/counted-votes.ts";
import {
  type GateRules,
  gateRules,
  isApproval,
  mayDecide,
  namesPrincipals,
  namesVoters,
  type Tally,
  tallyOf,
  verdictOf,
} from "../../../protocol/gates/gate-rules.ts";
import type { Interrupt, Vote } from "../../../protocol/gates/interrupt.ts";
import { deepEqual } from "../../schemas/decide/deep-equal.ts";
import { checkSchema } from "./answer-interrupt.ts";
import { closeInterrupt } from "./close-interrupt.ts";
import { type PlainAnswer, plainAnswer } from "./gate-answer.ts";
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

/** A vote at `core.approvalGate`, and the end of the gate when it is the last one needed. */
export function decidePlainGate(answer: VoteCommand): Ruling {
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
  if (earlier.action === given.action && sameEdit(interrupt, given) && stronger <= 0) {
    return repeatedVote(interrupt, earlier);
  }
  return stronger < 0 ? refusedVote(interrupt, earlier, given.action) : voted(counted);
}

function approves({ action }: PlainAnswer): boolean {
  return action === "accept" || action === "edit-accept";
}

/** A voter named in the body counts only where the gate names no voters and the key may relay votes. */
function voterOf(
  rules: GateRules,
  { voter }: PlainAnswer,
  { interrupt, answerer, relay }: VoteCommand,
): string | Ruling {
  if (voter === undefined || voter === answerer.principal) return answerer.principal;
  const namesOthers = relay?.trusted === true ? namesPrincipals(rules) : namesVoters(rules);
  if (namesOthers) return denied(interrupt, answerer, VOTER_HOLDS_KEY);
  if (relay === undefined) return denied(interrupt, answerer, NO_RELAY);
  return relay.known ? voter : denied(interrupt, answerer, UNKNOWN_VOTER);
}

const NO_RELAY = "a vote for another principal needs scope approvals:relay by name, in key and role";
const UNKNOWN_VOTER =
  "a relayed voter must be a principal with a key here that works and that the relay did not make; make one for it first";

function sameEdit({ edited }: Interrupt, { edited: given }: PlainAnswer): boolean {
  return given === undefined || (edited !== undefined && deepEqual(edited.data, given.data));
}

/** Questions stay in the run, and every commit writes the whole run. */
const REMARKS_MAX = 200;

function asked({ interruptId, nodeId, remarks }: Interrupt, by: string, text: string): Ruling {
  if (remarks.length >= REMARKS_MAX) {
    const problem = `${REMARKS_MAX} questions and answers were given at this gate, and no more can be: decide it`;
    throw validationError(problem, { interruptId, nodeId });
  }
  return {
    events: [{ type: "assay.gate.asked", nodeId, payload: { interruptId, by, text } }],
    audit: [{ action: "interrupt.asked", details: { interruptId, nodeId, by } }],
  };
}

interface Counted extends VoteCommand {
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

/** The votes after the fold of the event. */
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

/** `ask` does not close the gate. */
type ClosingAction = Exclude<PlainAnswer["action"], "ask">;

/** The end of the gate has the action of the closing vote; a granted gate has the artifact of the last edit. */
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
