import { defined } from "../../../protocol/defined.ts";
import { AppError, validationError } from "../../../protocol/errors.ts";
import { tokenAllowed, type Voter } from "../../../protocol/gates/gate-rules.ts";
import { type Interrupt, isGoverned } from "../../../protocol/gates/interrupt.ts";
import { startersOf } from "../../../protocol/runs/forked-from.ts";
import type { Run } from "../../../protocol/runs/run.ts";
import type { Secret } from "../../../protocol/runs/sensitive.ts";
import { answerInterrupt } from "./answer-interrupt.ts";
import { expireInterrupt, isOverdue } from "./close-interrupt.ts";
import { decideGovernedGate } from "./decide-governed-gate.ts";
import { decidePlainGate } from "./decide-plain-gate.ts";
import { type Binding, denied, type Ruling, requireBound, type VoteCommand } from "./vote.ts";

export interface ResolveInterrupt {
  /** A node, whose latest interrupt is meant, or the one interrupt of a token. */
  readonly of: { readonly nodeId: string } | { readonly interruptId: string };
  readonly value: unknown;
  readonly answerer: Voter;
  readonly relay?: VoteCommand["relay"];
  readonly makersOfStarters?: VoteCommand["makersOfStarters"];
  /** The interrupt, revision and artifact that the answer says it is for. */
  readonly bound?: Binding;
  /** Values of the run that are not shown. */
  readonly secrets?: readonly Secret[];
  readonly nowMs: number;
  readonly evidence?: VoteCommand["evidence"];
}

/** Decides an answer to an interrupt. A refused answer leaves the run waiting; an interrupt that is past its deadline ends. */
export function resolveInterrupt(run: Run, command: ResolveInterrupt): Ruling {
  const { answerer, value, nowMs } = command;
  const byToken = answerer.kind === "token";
  const interrupt = findInterrupt(run, command.of);
  if (interrupt === undefined) throw new AppError("interrupt_not_found", { runId: run.runId, ...command.of });
  requireOpen(run, interrupt, byToken);
  const at = new Date(nowMs).toISOString();
  if (isOverdue(interrupt, nowMs)) {
    const events = expireInterrupt(interrupt, at);
    const { interruptId, nodeId } = interrupt;
    const note = { action: "interrupt.timed_out", details: { interruptId, nodeId } };
    return { events, audit: [note], refusal: overdue(interrupt, byToken) };
  }
  if (byToken && !tokenAllowed(interrupt)) {
    throw new AppError("auth_elevation_required", { runId: run.runId, nodeId: interrupt.nodeId });
  }
  if (answerer.mayNotAnswer) return denied(interrupt, answerer, MAY_NOT_ANSWER);
  // A governed gate has an error code of its own for a missing answer.
  if (value === undefined && !isGoverned(interrupt)) {
    throw validationError("body must have required property 'resumeValue'");
  }
  const { bound: given = {}, secrets = [] } = command;
  const checkBinding = (isVote: boolean) => requireBound(run, interrupt, { given, secrets, isVote });
  if (interrupt.kind === "approval") {
    const { relay, evidence, makersOfStarters } = command;
    const answer = {
      interrupt,
      value,
      answerer,
      starters: startersOf(run),
      at,
      checkBinding,
      ...defined({ relay, makersOfStarters, evidence }),
    };
    return isGoverned(interrupt) ? decideGovernedGate(answer) : decidePlainGate(answer);
  }
  checkBinding(ratifies(interrupt));
  const { interruptId, nodeId } = interrupt;
  const events = answerInterrupt(interrupt, value, answerer, at);
  return { events, audit: [{ action: "interrupt.resolved", details: { interruptId, nodeId, outcome: "answered" } }] };
}

const MAY_NOT_ANSWER = "in the workspace of this run, no role of the principal has scope approvals:respond";

/** Whether an answer approves a decision of an agent or a supervisor: like a vote, it is for the decision that was read. */
function ratifies({ kind, data }: Interrupt): boolean {
  return kind === "low-confidence" || (kind === "clarification" && data["contextType"] === "low-confidence");
}

export function findInterrupt(run: Run, of: ResolveInterrupt["of"]): Interrupt | undefined {
  // An inherited interrupt of a fork is answered in the run that raised it.
  const all = Object.values(run.interrupts).filter(({ inherited }) => inherited !== true);
  if ("interruptId" in of) return all.find(({ interruptId }) => interruptId === of.interruptId);
  return all.filter(({ nodeId }) => nodeId === of.nodeId).at(-1);
}

/** Throws how the interrupt ended, if it did. */
export function requireOpen(run: Run, interrupt: Interrupt, byToken: boolean): void {
  const end = endOf(run, interrupt, byToken);
  if (end !== undefined) throw end;
}

export function endOf(run: Run, interrupt: Interrupt, byToken: boolean): AppError | undefined {
  const { status, interruptId, nodeId } = interrupt;
  const where = { runId: run.runId, nodeId, interruptId };
  const over = run.status === "cancelling" || run.status === "cancelled";
  if (status === "open" && !over) return undefined;
  if (status === "expired") return overdue(interrupt, byToken);
  if (status === "resolved") return new AppError("interrupt_already_resolved", where);
  if (run.parent !== undefined) return new AppError("interrupt_gone", where);
  return new AppError(over && !byToken ? "interrupt_cancelled" : "interrupt_already_resolved", where);
}

export function overdue({ interruptId, nodeId, deadlineMs }: Interrupt, byToken: boolean): AppError {
  const expiredAt = new Date(deadlineMs ?? 0).toISOString();
  return new AppError(byToken ? "interrupt_expired" : "interrupt_already_resolved", { nodeId, interruptId, expiredAt });
}
