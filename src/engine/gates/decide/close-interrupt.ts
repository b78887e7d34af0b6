import { defined } from "../../../protocol/defined.ts";
import type { EventDraft } from "../../../protocol/events.ts";
import { type Interrupt, isGoverned } from "../../../protocol/gates/interrupt.ts";
import type { PrincipalKind } from "../../../protocol/identity/identity.ts";

interface Closing {
  readonly outcome: string;
  readonly reason?: string;
  readonly resolvedBy?: string;
  readonly resolvedByKind?: PrincipalKind | "token";
  readonly resumeValue?: unknown;
  readonly at: string;
}

/** The events that end an interrupt and resume its node. */
export function closeInterrupt({ nodeId, interruptId, kind }: Interrupt, closing: Closing): EventDraft[] {
  const { outcome, reason, resolvedBy, resolvedByKind = "user", resumeValue, at } = closing;
  const value = defined({ resumeValue });
  return [
    {
      type: "interrupt.resolved",
      nodeId,
      payload: {
        nodeId,
        interruptId,
        kind,
        ...value,
        resolvedAt: at,
        ...defined({ resolvedBy }),
        ...(resolvedByKind === "user" ? {} : { resolvedByKind }),
        outcome,
        ...defined({ reason }),
      },
    },
    { type: "node.resumed", nodeId, payload: { nodeId, interruptId, ...value } },
  ];
}

export function isOverdue({ deadlineMs }: Interrupt, nowMs: number): boolean {
  return deadlineMs !== undefined && deadlineMs <= nowMs;
}

/** The end of an interrupt by its deadline. An approval that was not given in time is a rejection. */
export function expireInterrupt(interrupt: Interrupt, at: string): EventDraft[] {
  const { nodeId, kind } = interrupt;
  const received: EventDraft = {
    type: "approval.received",
    nodeId,
    payload: { nodeId, action: "timeout", decidedAt: at },
  };
  const approval = kind === "approval";
  return [
    ...(approval && !isGoverned(interrupt) ? [received] : []),
    ...closeInterrupt(interrupt, { outcome: approval ? "rejected" : "timeout", reason: "timeout", at }),
  ];
}
