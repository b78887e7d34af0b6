import { defined } from "../defined.ts";
import type { RunEvent } from "../events.ts";
import { isApproval } from "../gates/gate-rules.ts";
import { type Interrupt, isGoverned, revisionOf, type Vote } from "../gates/interrupt.ts";
import { own } from "../own.ts";

type Interrupts = Readonly<Record<string, Interrupt>>;

type InterruptEvent = Extract<
  RunEvent,
  {
    type:
      | "interrupt.requested"
      | "interrupt.resolved"
      | "assay.vote.recorded"
      | "assay.gate.asked"
      | "authorization.decided";
  }
>;

/** The interrupts of a run after one of the events that are about them. */
export function evolveInterrupts(
  interrupts: Interrupts,
  event: InterruptEvent,
  origin: Pick<Interrupt, "inherited"> = {},
): Interrupts {
  if (event.type === "interrupt.requested") {
    const source = origin.inherited ? { raisedIn: event.payload.runId } : {};
    const raised = { ...requested(event), ...origin, ...source };
    return { ...interrupts, [raised.interruptId]: raised };
  }
  const interruptId =
    event.type === "authorization.decided" ? deniedAt(event.payload.resource) : event.payload.interruptId;
  const before = own(interrupts, interruptId);
  if (before === undefined) return interrupts;
  return { ...interrupts, [interruptId]: changed(before, event) };
}

/** How `authorization.decided` names an interrupt. */
export function resourceOf(interruptId: string): string {
  return `interrupt:${interruptId}`;
}

function deniedAt(resource: string): string {
  return resource.startsWith("interrupt:") ? resource.slice("interrupt:".length) : "";
}

function requested(event: Extract<RunEvent, { type: "interrupt.requested" }>): Interrupt {
  const payload = event.sealed ?? event.payload;
  const { interruptId, nodeId, key, kind, data, requestedAt, timeoutMs, resumeSchema, correlationId, profile } =
    payload;
  const deadlineMs = timeoutMs === undefined ? undefined : Date.parse(event.timestamp) + timeoutMs;
  return {
    interruptId,
    nodeId,
    key,
    kind,
    status: "open",
    requestedAt,
    data,
    votes: [],
    remarks: [],
    ...defined({ deadlineMs, resumeSchema, correlationId, profile }),
  };
}

function changed(before: Interrupt, event: Exclude<InterruptEvent, { type: "interrupt.requested" }>): Interrupt {
  switch (event.type) {
    case "interrupt.resolved": {
      const { outcome, reason, resolvedBy, resolvedByKind, resumeValue } = event.sealed ?? event.payload;
      return {
        ...before,
        // A timeout has no resolver; a person may give "timeout" as their reason.
        status: reason === "timeout" && resolvedBy === undefined ? "expired" : "resolved",
        closedAt: event.timestamp,
        outcome,
        ...defined({ reason, resolvedBy, resolvedByKind, resumeValue }),
      };
    }
    case "assay.vote.recorded":
      return voted(before, event);
    case "assay.gate.asked": {
      const { by, text } = event.sealed ?? event.payload;
      return { ...before, remarks: [...before.remarks, { by, text, at: event.timestamp }] };
    }
    case "authorization.decided":
      return { ...before, denied: [...(before.denied ?? []), event.payload.principal] };
  }
}

/** An edit makes another artifact: earlier accepts count no longer. */
function voted(before: Interrupt, event: Extract<RunEvent, { type: "assay.vote.recorded" }>): Interrupt {
  const { voter, principal, principalKind, action, reason, override, editedArtifactData, ...more } =
    event.sealed ?? event.payload;
  const { makers, countsAs, relayedPerson } = more;
  const vote: Vote = {
    voter,
    principal,
    kind: principalKind,
    action,
    at: event.timestamp,
    ...defined({ reason, override, makers, countsAs, relayedPerson }),
  };
  const edits = action === "edit-accept" && !isGoverned(before);
  const others = before.votes.filter((one) => one.voter !== voter && !(edits && isApproval(one)));
  return {
    ...before,
    votes: [...others, vote],
    ...(edits ? { edited: { data: editedArtifactData ?? null }, revision: revisionOf(before) + 1 } : {}),
  };
}

/** An interrupt does not outlive its run. */
export function cancelInterrupts(interrupts: Interrupts, at: string): Interrupts {
  if (!Object.values(interrupts).some(({ status }) => status === "open")) return interrupts;
  return Object.fromEntries(
    Object.entries(interrupts).map(([id, one]) => [
      id,
      one.status === "open" ? { ...one, status: "cancelled", closedAt: at } : one,
    ]),
  );
}
