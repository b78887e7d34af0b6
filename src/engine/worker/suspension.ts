import { shownDigest } from "../../formats/gates/gate-digest.ts";
import { defined } from "../../protocol/defined.ts";
import { gateRules, tallyOf } from "../../protocol/gates/gate-rules.ts";
import type { Interrupt } from "../../protocol/gates/interrupt.ts";
import { hostsMember } from "../../protocol/gates/interrupt-data.ts";
import { type Run, visitOf } from "../../protocol/runs/run.ts";
import type { InterruptRequest } from "../gates/decide/raise-interrupt.ts";

/** How an interrupt ended. */
export interface Answer {
  readonly outcome: string;
  readonly reason?: string;
  readonly by?: string;
  readonly value: unknown;
  /** The data that the interrupt showed. The node might raise it with other data now. */
  readonly shown: Interrupt["data"];
  /** Whether the deadline ended the interrupt. It does not depend on the reason, which is free text. */
  readonly timedOut: boolean;
  /** Approvals that were given, also if there were too few. */
  readonly approvals: number;
}

/** Thrown through a node whose interrupt has no answer yet. A node must not catch it. */
export class Suspension extends Error {
  override readonly name = "Suspension";
  readonly request: InterruptRequest & { readonly key: string };

  constructor(request: InterruptRequest & { readonly key: string }) {
    super(`the node waits for ${request.key}`);
    this.request = request;
  }
}

/** Thrown into a node whose interrupt was not answered in time. Uncaught, it fails the node. */
export class InterruptTimedOut extends Error {
  override readonly name = "InterruptTimedOut";
}

export interface Interrupts {
  /** The value of the answer. Throws `InterruptTimedOut` after the deadline. */
  interrupt(request: InterruptRequest): unknown;
  /** The answer with its outcome, which may be a timeout. */
  answerTo(request: InterruptRequest): Answer;
}

/** The interrupts of one node of one run: a recorded answer is returned, and without one the node is suspended. */
export function interruptsOf(run: Run, nodeId: string): Interrupts {
  const answerTo = (request: InterruptRequest): Answer => {
    const key = request.key ?? `${nodeId}:${visitOf(run, nodeId)}`;
    const asked = Object.values(run.interrupts).find(
      (one) => one.key === key && one.nodeId === nodeId && one.reopened === undefined && holdsFor(one, request),
    );
    if (asked === undefined || asked.status === "open") throw new Suspension({ ...request, key });
    return answerOf(asked);
  };
  return {
    answerTo,
    interrupt(request) {
      const { timedOut, value } = answerTo(request);
      if (timedOut) throw new InterruptTimedOut(`no answer to ${request.kind} of node ${nodeId}, timed out`);
      return value;
    },
  };
}

/** Whether an interrupt answers a request. A decision that a branch keeps holds only for the same content, artifact and gate. */
function holdsFor({ held, kind, data }: Interrupt, request: InterruptRequest): boolean {
  if (held === undefined) return true;
  // Older definitions may have these names, which the digest does not cover.
  if (hostsMember(request.data) !== undefined) return false;
  if (["artifactId", "gateId"].some((name) => request.data[name] !== data[name])) return false;
  return shownDigest({ kind: request.kind, data: request.data }) === shownDigest({ kind, data });
}

function answerOf({ status, outcome = "cancelled", reason, resolvedBy, resumeValue, votes, data }: Interrupt): Answer {
  return {
    outcome,
    value: resumeValue ?? null,
    shown: data,
    timedOut: status === "expired",
    approvals: tallyOf({ votes }, gateRules(data)).granted,
    ...defined({ reason, by: resolvedBy }),
  };
}
