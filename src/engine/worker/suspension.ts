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
  /** The data of the interrupt, as it was shown. What a node would ask with now may be something else. */
  readonly shown: Interrupt["data"];
  /** Nobody answered; whatever somebody writes as their reason is never taken for this. */
  readonly timedOut: boolean;
  /** Approvals that were given, also where they did not suffice. */
  readonly approvals: number;
}

/** Thrown through a node that has no answer yet. A node must not catch it. */
export class Suspension extends Error {
  override readonly name = "Suspension";
  readonly request: InterruptRequest & { readonly key: string };

  constructor(request: InterruptRequest & { readonly key: string }) {
    super(`the node waits for ${request.key}`);
    this.request = request;
  }
}

/** Thrown into a node whose interrupt nobody answered in time. Uncaught, it fails the node. */
export class InterruptTimedOut extends Error {
  override readonly name = "InterruptTimedOut";
}

export interface Interrupts {
  /** The value that was answered. Throws `InterruptTimedOut` when nobody answered in time. */
  interrupt(request: InterruptRequest): unknown;
  /** The same, with how it came about; time running out is an outcome like any other. */
  answerTo(request: InterruptRequest): Answer;
}

/** The primitive, for one node of one run: the recorded answer, or the node is suspended until there is one. */
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

/** A decision that a branch keeps is for what its gate showed, and for the artifact and the gate of that name. */
function holdsFor({ held, kind, data }: Interrupt, request: InterruptRequest): boolean {
  if (held === undefined) return true;
  // A definition from before such names were refused: the digest does not see what they show.
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
