import type { PrincipalKind } from "../identity/identity.ts";
import type { RunStatus } from "../runs/run-status.ts";

/** The kinds of interrupts. The conversation kinds of the protocol belong to a capability this host does not serve. */
export const INTERRUPT_KINDS = ["approval", "clarification", "external-event", "custom", "low-confidence"] as const;
export type InterruptKind = (typeof INTERRUPT_KINDS)[number];

export const APPROVAL_ACTIONS = ["accept", "reject", "refine", "edit-accept", "ask"] as const;
export type ApprovalAction = (typeof APPROVAL_ACTIONS)[number];

export const REJECTION_POLICIES = ["single-veto", "majority"] as const;
export type RejectionPolicy = (typeof REJECTION_POLICIES)[number];

export const AUTH_REQUIRED = "openwop-interrupt-auth-required";

/** `resolved` by an answer, `expired` by its deadline, `cancelled` by the end of its run. */
export const INTERRUPT_STATUSES = ["open", "resolved", "expired", "cancelled"] as const;
export type InterruptStatus = (typeof INTERRUPT_STATUSES)[number];

export interface Vote {
  /** The voter that counts: the principal, or the name a relaying key gave on a gate without voter rules. */
  readonly voter: string;
  readonly principal: string;
  readonly kind: PrincipalKind | "token";
  readonly action: ApprovalAction;
  readonly reason?: string;
  readonly override?: true;
  /** The makers of the voter's key, and their makers, as far as no owner has confirmed it. */
  readonly makers?: readonly string[];
  /** The principal whose person the vote counts as, where that is not the voter. */
  readonly countsAs?: string;
  /** Relayed for a person, by a relay that is trusted to know people. */
  readonly relayedPerson?: true;
  readonly at: string;
}

/** A question asked at a gate, or an answer to one. Neither decides anything. */
export interface Remark {
  readonly by: string;
  readonly text: string;
  readonly at: string;
}

/** An interrupt as the fold of its run knows it. Everything but `data` survives its end. */
export interface Interrupt {
  readonly interruptId: string;
  readonly nodeId: string;
  readonly key: string;
  readonly kind: InterruptKind;
  readonly status: InterruptStatus;
  readonly requestedAt: string;
  readonly deadlineMs?: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly resumeSchema?: Readonly<Record<string, unknown>>;
  readonly profile?: string;
  /** SHA-256 of the canonical JSON of `data.correlation`. */
  readonly correlationId?: string;
  readonly votes: readonly Vote[];
  readonly remarks: readonly Remark[];
  /** The artifact as the last `edit-accept` left it; accepts count for this version only. */
  readonly edited?: { readonly data: unknown };
  /** How often the artifact was edited. Absent in states from before it was counted; see `revisionOf`. */
  readonly revision?: number;
  /** Principals that were refused here before, so that a refusal is recorded once. */
  readonly denied?: readonly string[];
  readonly closedAt?: string;
  readonly outcome?: string;
  readonly reason?: string;
  readonly resolvedBy?: string;
  readonly resolvedByKind?: PrincipalKind | "token";
  readonly resumeValue?: unknown;
  /** Was raised in the run that this one was forked from: it is recorded here, and not asked. */
  readonly inherited?: true;
  /** The run in which an inherited one was raised: the source, or a source of the source. */
  readonly raisedIn?: string;
  /**
   * The decision does not hold in this branch, which asks again. The names are those of the options that the branch was
   * given other values of, as `inputs.NAME` or `configurable.NAME`.
   */
  readonly reopened?: readonly string[];
  /** The decision holds in this branch for a gate that shows the same under this key. */
  readonly held?: true;
}

export function waitingStatusOf(kind: InterruptKind): RunStatus {
  if (kind === "external-event") return "waiting-external";
  return kind === "approval" || kind === "low-confidence" ? "waiting-approval" : "waiting-input";
}

/** The number of edits at this interrupt, 0 before the first. With the interrupt's id it says which artifact is meant. */
export function revisionOf({ revision, edited }: Pick<Interrupt, "revision" | "edited">): number {
  return revision ?? (edited === undefined ? 0 : 1);
}

export function isGoverned(interrupt: Pick<Interrupt, "data">): boolean {
  return typeof interrupt.data["gateId"] === "string";
}

/**
 * Whether a person decided it. A vote records the kind of its voter; a token counts as a person, and so do logs that are
 * older than that record.
 */
export function wasDecidedByPerson(
  interrupt: Pick<Interrupt, "kind" | "status" | "votes" | "resolvedBy" | "resolvedByKind">,
): boolean {
  const { kind, status, votes, resolvedBy, resolvedByKind = "user" } = interrupt;
  // An external event decides nothing, with any sender.
  if (status !== "resolved" || kind === "external-event") return false;
  if (votes.length > 0) return votes.some((vote) => isPerson(vote.kind));
  return resolvedBy !== undefined && isPerson(resolvedByKind);
}

function isPerson(kind: PrincipalKind | "token"): boolean {
  return kind === "user" || kind === "token";
}

/** The line an inbox shows for it. */
export function titleOf({ kind, data, nodeId }: Pick<Interrupt, "kind" | "data" | "nodeId">): string {
  const text = {
    approval: data["title"],
    clarification: (data["questions"] as { readonly question?: unknown }[] | undefined)?.[0]?.question,
    "external-event": data["eventType"],
    custom: data["customKind"],
    "low-confidence": data["agentId"],
  }[kind];
  return typeof text === "string" && text !== "" ? text : nodeId;
}
