import { AppError } from "../../../protocol/errors.ts";
import { instantMs } from "../../../protocol/instant.ts";
import type {
  CreateQueueRequest,
  PrincipalSelector,
  QueueQuery,
  QueueRules,
  UpdateQueueRequest,
} from "../../../protocol/queues/api.ts";
import { isTerminal } from "../../../protocol/runs/run-status.ts";

const LEASE_SECONDS = 900;

/** The rules of a new queue, with everything that was left out filled in. */
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

/** The rules after a change. What is null is taken away; what is left out stays. */
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
  if (adjudicators !== undefined && namesNobody(adjudicators))
    throw invalid("adjudicators", "adjudicators names nobody");
  return rules;
}

function checkQuery(query: QueueQuery): void {
  const { nodeId, workflowId, status, from } = query;
  if (nodeId !== undefined && workflowId === undefined) {
    throw invalid("query.nodeId", "query.nodeId needs query.workflowId, because a node belongs to a workflow");
  }
  const said = (["flagged", "label", "ratingMax"] as const).filter((name) => query[name] !== undefined);
  if (said.length > 1) {
    throw invalid(`query.${said[1]}`, `query takes one of flagged, label and ratingMax, not ${said.join(" and ")}`);
  }
  if (said.length === 0 && status !== undefined && !isTerminal(status)) {
    throw invalid(
      "query.status",
      "query.status must be completed, failed or cancelled: runs enter when they have ended",
    );
  }
  if (from !== undefined && instantMs(from) === undefined) {
    throw invalid("query.from", "query.from is no instant such as 2025-01-31T08:00:00Z");
  }
}

function checkAssigned(assign: PrincipalSelector, required: number): void {
  if (namesNobody(assign)) throw invalid("assign", "assign names nobody; leave it out for anybody who may annotate");
  const { people = [], roles = [], groups = [] } = assign;
  if (roles.length + groups.length === 0 && new Set(people).size < required) {
    throw invalid(
      "assign.people",
      "assign.people names fewer people than reviewersRequired, so no item could be settled",
    );
  }
}

function namesNobody({ people = [], roles = [], groups = [] }: PrincipalSelector): boolean {
  return people.length + roles.length + groups.length === 0;
}

/** Whether the query is about what was said about runs, and not about runs that have ended. */
export function asksForAnnotations({ flagged, label, ratingMax }: QueueQuery): boolean {
  return flagged !== undefined || label !== undefined || ratingMax !== undefined;
}

export function invalid(field: string, problem: string): AppError {
  return new AppError("validation_error", { problem, field });
}
