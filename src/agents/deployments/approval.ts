import { isOverdue } from "../../engine/gates/decide/close-interrupt.ts";
import { gateRules, tallyOf, timedOutText } from "../../protocol/gates/gate-rules.ts";
import type { Interrupt } from "../../protocol/gates/interrupt.ts";
import type { Condition, PolicyGate } from "../../protocol/promotion/api.ts";
import { nodeOf, type Run } from "../../protocol/runs/run.ts";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { APPLY, applyWithinSecOf } from "./management-workflow.ts";

export interface Approval {
  readonly state: "waiting" | "granted" | "refused";
  readonly found: string;
}

/** Read from the run that holds the gate. Only a current approval counts as approved. */
export function approvalIn(run: Run, nowMs: number, gate: Pick<PolicyGate, "applyWithinSec"> = {}): Approval {
  const interrupt = Object.values(run.interrupts).find(({ nodeId }) => nodeId === gateIdOf(run.runId));
  if (interrupt?.outcome === "rejected") return { state: "refused", found: rejectionOf(interrupt) };
  if (isTerminal(run.status)) {
    return {
      state: "refused",
      found: `its run ${run.runId} ended as ${run.status} (${run.error?.code ?? "no error"})`,
    };
  }
  if (interrupt === undefined) return { state: "waiting", found: "no approver was asked yet" };
  if (interrupt.status === "open") {
    const overdue = isOverdue(interrupt, nowMs);
    return overdue
      ? { state: "refused", found: timedOut(interrupt) }
      : { state: "waiting", found: tallyText(interrupt) };
  }
  if (holdsUntilMs(run, interrupt, gate) <= nowMs) return { state: "refused", found: "it was granted too long ago" };
  if (interrupt.outcome !== "granted") return { state: "refused", found: `the gate ended as ${interrupt.status}` };
  if (run.status === "cancelling") return { state: "refused", found: `its run ${run.runId} is being cancelled` };
  if (run.status === "paused" || run.pause !== undefined) {
    return { state: "waiting", found: `granted, and its run ${run.runId} is paused: resume it` };
  }
  return { state: "granted", found: `granted by ${votersOf(interrupt, "accept").join(", ")}` };
}

/** Counted from the decision: a pause ends the sleep of the run, and a resume begins it anew. */
function holdsUntilMs(run: Run, { closedAt }: Interrupt, gate: Pick<PolicyGate, "applyWithinSec">): number {
  const dueAtMs = nodeOf(run, APPLY)?.dueAtMs ?? Number.POSITIVE_INFINITY;
  if (closedAt === undefined) return dueAtMs;
  return Math.min(dueAtMs, Date.parse(closedAt) + applyWithinSecOf(gate) * 1000);
}

/** The run is in the name, so that a record that names the gate leads to those who opened it. */
export function gateIdOf(runId: string): string {
  return `gate-${runId}`;
}

export function approvalCondition(gate: PolicyGate, approval: Approval | undefined): Condition {
  return {
    condition: "approval",
    wanted: wantedOf(gate),
    found: approval?.found ?? "no approver was asked yet",
    met: approval?.state === "granted",
  };
}

function wantedOf({ requiredRole, requiredScope, quorum = 1, minHumans = 0, forbidSelfApproval = true }: PolicyGate) {
  const count = Math.max(quorum, minHumans);
  const who = [
    ...(requiredRole === undefined ? [] : [`role ${requiredRole}`]),
    ...(requiredScope === undefined ? [] : [`scope ${requiredScope}`]),
  ].join(" and ");
  const people = minHumans > 0 ? `, ${minHumans} of them people` : "";
  const others = forbidSelfApproval ? ", and not by the requester" : "";
  return `granted by ${count} with ${who}${people}${others}`;
}

function rejectionOf(interrupt: Interrupt): string {
  const voters = votersOf(interrupt, "reject");
  return voters.length === 0 ? timedOut(interrupt) : `rejected by ${voters.join(", ")}`;
}

function timedOut(interrupt: Interrupt): string {
  const { granted, required } = tallyOf(interrupt, gateRules(interrupt.data));
  return timedOutText(required, granted);
}

function tallyText(interrupt: Interrupt): string {
  const rules = gateRules(interrupt.data);
  const { granted, required, humans } = tallyOf(interrupt, rules);
  const people =
    humans < rules.minHumans && granted > humans ? `, ${humans} of ${rules.minHumans} people among them` : "";
  return `${granted} of ${required} granted${people}`;
}

function votersOf({ votes }: Interrupt, action: "accept" | "reject"): string[] {
  return votes.filter((vote) => vote.action === action).map(({ voter }) => voter);
}
