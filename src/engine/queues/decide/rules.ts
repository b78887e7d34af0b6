import { defined } from "../../../protocol/defined.ts";
import { type AppError, validationError } from "../../../protocol/errors.ts";
import type { Voter } from "../../../protocol/gates/gate-rules.ts";
import { roleContains } from "../../../protocol/identity/scopes.ts";
import { instantMs } from "../../../protocol/instant.ts";
import type { Signal } from "../../../protocol/judgments/annotation.ts";
import type {
  AdjudicateRequest,
  CreateQueueRequest,
  PrincipalSelector,
  QueueQuery,
  QueueRules,
  UpdateQueueRequest,
} from "../../../protocol/queues/api.ts";
import { isTerminal } from "../../../protocol/runs/run-status.ts";

const LEASE_SECONDS = 900;

/** The rules of a new queue, with defaults. */
export function newRules(request: CreateQueueRequest): QueueRules {
  const { reviewersRequired = 1 } = request;
  return checked({
    noteRequired: false,
    correction: "off",
    blind: reviewersRequired > 1,
    selfAdjudication: false,
    maxSpread: 0,
    leaseSeconds: LEASE_SECONDS,
    ...request,
    reviewersRequired,
  });
}

/** The rules after a change: null removes a rule, and rules that are not given stay. */
export function changedRules(before: QueueRules, request: Omit<UpdateQueueRequest, "revision" | "state">): QueueRules {
  const after: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(request)) {
    if (value === null) delete after[name];
    else after[name] = value;
  }
  return checked(after as unknown as QueueRules);
}

function checked(rules: QueueRules): QueueRules {
  const { judgment, query, assign, adjudicators, maxSpread } = rules;
  if (judgment.kind === "label" && new Set(judgment.labels).size < judgment.labels.length) {
    throw invalid("judgment.labels", "judgment.labels names a label twice");
  }
  if (maxSpread > 0 && judgment.kind !== "rating") throw invalid("maxSpread", "maxSpread is for ratings only");
  if (query !== undefined) checkQuery(query);
  if (assign !== undefined) checkAssigned(assign, rules.reviewersRequired);
  if (adjudicators !== undefined && isEmpty(adjudicators)) {
    throw invalid("adjudicators", "adjudicators names no principal, role or group");
  }
  return rules;
}

function checkQuery(query: QueueQuery): void {
  const { nodeId, workflowId, status, from } = query;
  if (nodeId !== undefined && workflowId === undefined) {
    throw invalid("query.nodeId", "query.nodeId needs query.workflowId, because a node belongs to a workflow");
  }
  const signals = (["flagged", "label", "ratingMax"] as const).filter((name) => query[name] !== undefined);
  if (signals.length > 1) {
    const problem = `query takes one of flagged, label and ratingMax, not ${signals.join(" and ")}`;
    throw invalid(`query.${signals[1]}`, problem);
  }
  if (signals.length === 0 && status !== undefined && !isTerminal(status)) {
    const problem = "query.status must be completed, failed or cancelled: runs enter when they have ended";
    throw invalid("query.status", problem);
  }
  if (from !== undefined && instantMs(from) === undefined) {
    throw invalid("query.from", "query.from is no instant such as 2025-01-31T08:00:00Z");
  }
}

function checkAssigned(assign: PrincipalSelector, required: number): void {
  if (isEmpty(assign)) {
    const problem = "assign names no principal, role or group; leave it out for all principals that may annotate";
    throw invalid("assign", problem);
  }
  const { people = [], roles = [], groups = [] } = assign;
  if (roles.length + groups.length === 0 && new Set(people).size < required) {
    const problem = "assign.people names fewer people than reviewersRequired, so no item could be settled";
    throw invalid("assign.people", problem);
  }
}

function isEmpty({ people = [], roles = [], groups = [] }: PrincipalSelector): boolean {
  return people.length + roles.length + groups.length === 0;
}

/** Whether the query is about annotations, and not about ended runs. */
export function asksForAnnotations({ flagged, label, ratingMax }: QueueQuery): boolean {
  return flagged !== undefined || label !== undefined || ratingMax !== undefined;
}

export function invalid(field: string, problem: string): AppError {
  return validationError(problem, { field });
}

type Person = Pick<Voter, "principal" | "kind" | "roles" | "groups">;

/** Whether a principal may review. A queue without `assign` is for people, not for agents and code. */
export function mayReview({ assign }: Pick<QueueRules, "assign">, who: Person): boolean {
  return assign === undefined ? who.kind === "user" : isAmong(assign, who);
}

export function mayAdjudicate({ adjudicators }: Pick<QueueRules, "adjudicators">, who: Voter): boolean {
  return who.grants("queues:manage") || (adjudicators !== undefined && isAmong(adjudicators, who));
}

/** Roles count for people only, because many agents have them; agents are named, or in a named group. */
function isAmong({ people = [], roles = [], groups = [] }: PrincipalSelector, who: Person): boolean {
  if (people.includes(who.principal) || groups.some((group) => who.groups.includes(group))) return true;
  return who.kind === "user" && roles.some((role) => who.roles.some((held) => roleContains(held, role)));
}

/** The content of an annotation of a judgment. */
export interface AnnotationContent {
  readonly signal: Signal;
  readonly note?: string;
}

/** The label of a run that was reviewed and not flagged: there is no signal for that. */
export const NOT_FLAGGED = "not-flagged";

/** The annotations of a judgment: the judgment itself, then a correction. Throws where the judgment does not match the rules. */
export function annotationsFor(rules: QueueRules, { value, note, correction }: AdjudicateRequest): AnnotationContent[] {
  if (rules.noteRequired && note === undefined) throw invalid("note", "this queue wants a note with every judgment");
  if (correction === undefined && rules.correction === "required") {
    throw invalid("correction", "this queue wants a correction with every judgment");
  }
  if (correction !== undefined && rules.correction === "off") {
    throw invalid("correction", "this queue takes no corrections; annotate the run itself");
  }
  const main = defined({ signal: signalOf(rules, value), note });
  return correction === undefined ? [main] : [main, { signal: { kind: "correction", correction } }];
}

function signalOf({ judgment }: QueueRules, value: AdjudicateRequest["value"]): Signal {
  switch (judgment.kind) {
    case "rating":
      if (typeof value !== "number") throw invalid("value", "value must be a rating from 1 to 5");
      return { kind: "rating", rating: value };
    case "label":
      if (typeof value !== "string" || !judgment.labels.includes(value)) {
        throw invalid("value", `value must be one of the queue's labels: ${judgment.labels.join(", ")}`);
      }
      return { kind: "label", label: value };
    case "flag":
      if (typeof value !== "boolean") throw invalid("value", "value must be true to flag the run, or false");
      return value ? { kind: "flag" } : { kind: "label", label: NOT_FLAGGED };
  }
}
