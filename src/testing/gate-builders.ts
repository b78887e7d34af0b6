import type { EventDraft, PayloadOf } from "../protocol/events.ts";
import type { ApprovalAction } from "../protocol/gates/interrupt.ts";
import type { DeliveryWrite, ExternalEventRecord, WebhookRecord } from "../store/port/gates.ts";
import { type Built, HOUR, NOW, newId, next, nodeStarted, type StartedRun, sha256, startedRun } from "./builders.ts";

export type Asked = Partial<PayloadOf<"interrupt.requested">> & { readonly atMs?: number };

export function interruptRequested(runId: string, interruptId: string, asked: Asked = {}): EventDraft {
  const { atMs = NOW, nodeId = "gate", ...more } = asked;
  const payload = {
    kind: "approval" as const,
    key: `${nodeId}/0`,
    data: { title: "Ship it?", actions: ["accept", "reject"] },
    requestedAt: new Date(atMs).toISOString(),
    ...more,
    runId,
    nodeId,
    interruptId,
  };
  return { type: "interrupt.requested", nodeId, payload };
}

/** A run that waits at an interrupt; everything is new and in `events`, ready to be written as a creation. */
export interface OpenGate extends Built {
  readonly interruptId: string;
}

export function openGate(start: StartedRun, asked: Asked = {}): OpenGate {
  const atMs = asked.atMs ?? start.atMs ?? NOW;
  const started = startedRun({ ...start, atMs });
  const interruptId = asked.interruptId ?? newId("int", atMs);
  const request = interruptRequested(started.run.runId, interruptId, { ...asked, atMs });
  const waiting = next(started, atMs, nodeStarted(asked.nodeId ?? "gate"), request);
  return { run: waiting.run, events: [...started.events, ...waiting.events], interruptId };
}

export function voteRecorded(
  interruptId: string,
  voter: string,
  action: ApprovalAction = "accept",
  more: Partial<PayloadOf<"assay.vote.recorded">> = {},
): EventDraft {
  const payload = { interruptId, voter, principal: voter, principalKind: "user" as const, action, ...more };
  return { type: "assay.vote.recorded", payload };
}

export function interruptResolved(
  interruptId: string,
  outcome = "granted",
  more: Partial<PayloadOf<"interrupt.resolved">> = {},
): EventDraft {
  const payload = { nodeId: "gate", interruptId, kind: "approval" as const, resolvedAt: "then", outcome, ...more };
  return { type: "interrupt.resolved", nodeId: "gate", payload };
}

export function gateAsked(interruptId: string, text = "Which version?"): EventDraft {
  return { type: "assay.gate.asked", payload: { interruptId, by: "pat", text } };
}

export function accessDenied(interruptId: string, principal = "eve"): EventDraft {
  const payload = { principal, action: "approvals:respond", resource: `interrupt:${interruptId}`, allowed: false };
  return { type: "authorization.decided", payload };
}

export function runCancelled(): EventDraft {
  return { type: "run.cancelled", payload: { cancelledBy: "pat" } };
}

export function externalEvent(tenant: string, more: Partial<ExternalEventRecord> = {}): ExternalEventRecord {
  return {
    tenant,
    workspace: "",
    correlationId: sha256("order 1"),
    eventId: "evt-1",
    eventType: "order.paid",
    state: "held",
    payload: '{ "paid": true }',
    answer: '{"status":202,"body":{}}',
    atMs: NOW,
    expiresAtMs: NOW + HOUR,
    ...more,
  };
}

export function newWebhook(tenant: string, more: Partial<WebhookRecord> = {}): WebhookRecord {
  return {
    webhookId: newId("hook"),
    tenant,
    url: "https://example.com/hook",
    events: ["run.*", "approval.granted"],
    tags: ["release"],
    secret: "a secret of the receiver",
    createdBy: "pat",
    createdAtMs: NOW,
    failures: 0,
    ...more,
  };
}

export function newDelivery(more: Partial<DeliveryWrite> = {}): DeliveryWrite {
  const atMs = more.atMs ?? NOW;
  return {
    deliveryId: newId("dlv", atMs),
    runId: newId("run"),
    sequence: 0,
    eventType: "run.started",
    atMs,
    ...more,
  };
}
