import { shownDigest } from "../../../formats/gates/gate-digest.ts";
import type { AuditDraft } from "../../../protocol/audit/audit.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { EventDraft } from "../../../protocol/events.ts";
import { resourceOf } from "../../../protocol/evolve/interrupts.ts";
import {
  excludesMakersOfStarters,
  type GateRules,
  gateRules,
  isDependent,
  isSelfApproval,
  type Voter,
} from "../../../protocol/gates/gate-rules.ts";
import { type Interrupt, revisionOf, type Vote } from "../../../protocol/gates/interrupt.ts";
import type { Evidence, Precondition } from "../../../protocol/promotion/evidence.ts";
import type { Run } from "../../../protocol/runs/run.ts";
import type { Secret } from "../../../protocol/runs/sensitive.ts";

export type AuditNote = Pick<AuditDraft, "action" | "details">;

/** The events and audit entries of an answer. A refused answer may have some too. */
export interface Ruling {
  readonly events: readonly EventDraft[];
  readonly audit: readonly AuditNote[];
  readonly refusal?: AppError;
  /** Rows that must be unchanged when the unit is committed. */
  readonly preconditions?: readonly Precondition[];
}

/** An answer to a gate, with the facts that it is decided on. */
export interface VoteCommand {
  readonly interrupt: Interrupt;
  readonly value: unknown;
  readonly answerer: Voter;
  /** Facts about the voter that the answer names; absent where the key may not relay votes. */
  readonly relay?: Relay;
  /** Throws `vote_not_bound`. A question at the gate is no vote: it need not name the artifact. */
  readonly checkBinding: (isVote: boolean) => void;
  /** All principals that started or branched the run. */
  readonly starters: readonly string[];
  /** Makers of the starters; given only where they may not approve the run. */
  readonly makersOfStarters?: readonly string[];
  readonly at: string;
  /** The evaluation that a governed gate asks for. */
  readonly evidence?: Evidence;
}

/** The refusal of a vote by one of the run's starters. */
const OWN_RUN = "principals that started or branched the run, or a run that it comes from, cannot approve it";

/** The refusal of an approval by a principal that another one made. */
const DEPENDENT =
  "the gate asks for independent voters: vote with a key of your own, and where it was made over the API have another owner confirm the principal (assay principal confirm)";

/** The refusal of an approval by a principal that made one of the run's starters. */
const MADE_A_STARTER =
  "the gate asks for independent voters, and you made a key of a principal behind this run; another owner has to confirm that principal (assay principal confirm), or another principal has to approve";

/** The refusal of a vote in the name of another principal. */
export const VOTER_HOLDS_KEY = "at this gate the voter is the holder of the key";

/** Why a principal with the right to vote may not approve this run; undefined where it may. */
export function notIndependent(
  rules: GateRules,
  answerer: Pick<Voter, "principal" | "kind" | "makers">,
  { starters, makersOfStarters = [] }: Pick<VoteCommand, "starters" | "makersOfStarters">,
): string | undefined {
  if (isSelfApproval(rules, answerer, starters)) return OWN_RUN;
  if (isDependent(rules, answerer)) return DEPENDENT;
  return excludesMakersOfStarters(rules) && makersOfStarters.includes(answerer.principal) ? MADE_A_STARTER : undefined;
}

/** A vote that may not replace an earlier one of the same voter. The attempt is audited. */
export function refusedVote(interrupt: Interrupt, earlier: Vote, action: Vote["action"]): Ruling {
  const { interruptId, nodeId } = interrupt;
  const { voter, action: earlierAction } = earlier;
  const refusal = new AppError("vote_conflict", { interruptId, nodeId, voter, earlier: earlierAction });
  return { ...auditedVote("interrupt.vote_refused", interrupt, earlier, action), refusal };
}

/** The same vote again, by another key of the principal or by a repeated request: still one vote. */
export function repeatedVote(interrupt: Interrupt, earlier: Vote): Ruling {
  return auditedVote("interrupt.vote_repeated", interrupt, earlier, earlier.action);
}

function auditedVote(note: string, interrupt: Interrupt, earlier: Vote, action: Vote["action"]): Ruling {
  const { interruptId, nodeId } = interrupt;
  const { voter, action: earlierAction, at: earlierAt } = earlier;
  const details = { interruptId, nodeId, voter, action, earlierAction, earlierAt };
  return { events: [], audit: [{ action: note, details }] };
}

/** Denials that are recorded for one interrupt at most. */
const DENIALS_MAX = 100;

/** The refusal of a voter by name, role or origin. It is recorded once for each principal, so that repeated attempts do not fill the log. */
export function denied(interrupt: Interrupt, answerer: Voter, problem: string): Ruling {
  const { interruptId, nodeId } = interrupt;
  const refusal = new AppError("forbidden", { problem, nodeId, interruptId });
  const known = interrupt.denied ?? [];
  if (known.includes(answerer.principal) || known.length >= DENIALS_MAX) return { events: [], audit: [], refusal };
  const { principal } = answerer;
  const decided: EventDraft = {
    type: "authorization.decided",
    nodeId,
    payload: {
      principal,
      action: "approvals:respond",
      resource: resourceOf(interruptId),
      allowed: false,
      reason: problem,
    },
  };
  const note = { action: "authorization.denied", details: { interruptId, nodeId, reason: problem } };
  return { events: [decided], audit: [note], refusal };
}

/** Facts about a voter that a relay names. */
export interface Relay {
  /** Whether the voter is a principal of the tenant that the relay did not make. */
  readonly known: boolean;
  /** Whether the relay is trusted to name people. */
  readonly trusted: boolean;
  /** Whether the voter has a person's key. */
  readonly person: boolean;
  /** Makers of the relay's key or, where it has none, of the voter's. */
  readonly makers: readonly string[];
  /** The relay, where all its votes count as one. */
  readonly countsAs?: string;
}

interface VoteOrigin {
  makers?: string[];
  countsAs?: string;
  relayedPerson?: true;
}

/** The principals that made the key of a vote, as vote and log store them. */
export function originOf(voter: string, { principal, makers: own = [] }: Voter, relay?: Relay): VoteOrigin {
  const relayed = voter === principal ? undefined : relay;
  const makers = relayed?.makers ?? own;
  return {
    ...(makers.length === 0 ? {} : { makers: [...makers] }),
    ...(relayed?.countsAs === undefined ? {} : { countsAs: relayed.countsAs }),
    ...(relayed?.trusted === true && relayed.person ? { relayedPerson: true } : {}),
  };
}

/** The interrupt, revision and artifact that a vote says it is for. */
export interface Binding {
  readonly interruptId?: string;
  readonly revision?: number;
  readonly artifactDigest?: string;
  /** The vote came by a link: interrupt and revision of the link name the artifact. */
  readonly byLink?: true;
}

const NAMES = ["interruptId", "revision", "artifactDigest"] as const;

/**
 * Whether a vote must name what it is for: where the artifact can change before the vote arrives (an edit keeps a gate open that asks for
 * several approvals or, if an agent edits, for people), and where the node has asked before in this run.
 */
function asksForBinding(run: Run, interrupt: Interrupt): boolean {
  const { requireBoundVotes, actions, required, minHumans } = gateRules(interrupt.data);
  const staysOpen = required > 1 || minHumans > 0;
  return requireBoundVotes && ((staysOpen && actions.includes("edit-accept")) || wasVisited(run, interrupt));
}

function wasVisited({ interrupts }: Run, { nodeId, interruptId }: Interrupt): boolean {
  return Object.values(interrupts).some(
    (one) => one.nodeId === nodeId && one.interruptId !== interruptId && !one.inherited,
  );
}

/** Throws `vote_not_bound` with the names that differ, and with those that are missing where the gate requires them. */
export function requireBound(
  run: Run,
  interrupt: Interrupt,
  { given, secrets, isVote }: { given: Binding; secrets: readonly Secret[]; isVote: boolean },
): void {
  const { interruptId, nodeId } = interrupt;
  const missing = isVote && asksForBinding(run, interrupt) ? missingIn(given) : [];
  // The digest of a large artifact takes time: it is computed only where it is compared or returned.
  const digest = () => shownDigest(interrupt, secrets);
  const current = { interruptId, revision: revisionOf(interrupt), artifactDigest: given.artifactDigest && digest() };
  const changed = NAMES.flatMap((name) =>
    given[name] === undefined || given[name] === current[name]
      ? []
      : [{ name, given: given[name], current: current[name] }],
  );
  if (missing.length + changed.length === 0) return;
  const problem = [
    ...changed.map((one) => `${one.name} is ${one.current} now, not ${one.given}`),
    ...(missing.length === 0 ? [] : [`${missing.join(", ")} missing`]),
  ].join("; ");
  const now = { ...current, artifactDigest: current.artifactDigest ?? digest() };
  throw new AppError("vote_not_bound", { problem, runId: run.runId, nodeId, ...now, missing, changed });
}

function missingIn(given: Binding): string[] {
  return NAMES.filter((name) => given[name] === undefined && !(name === "artifactDigest" && given.byLink === true));
}
