import { correlationIdOf } from "../../formats/gates/gate-digest.ts";
import type { AuditDraft } from "../../protocol/audit/audit.ts";
import { defined } from "../../protocol/defined.ts";
import { AppError, validationError } from "../../protocol/errors.ts";
import type { SendExternalEventRequest } from "../../protocol/gates/api.ts";
import { type Caller, visibilityOf } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { Secret } from "../../protocol/runs/sensitive.ts";
import type { ExternalEventRecord } from "../../store/port/gates.ts";
import type { Refusal, RunWrite } from "../../store/port/store.ts";
import { auditDraft, type Recorder, refused } from "../execute.ts";
import { withRunsAbout, writeRuns } from "../families/waiting-runs.ts";
import type { Host } from "../host.ts";
import { checked } from "../schemas/schema-checks.ts";
import { deliverEvent, type EventRuling, requireConsistent } from "./decide/deliver-event.ts";
import { answerOf, deliverHeld, type EventAnswer, keyOf, type ReceivedEvent, recordOf } from "./held-events.ts";
import { receivedAnswer, withSecrets } from "./seal-answer.ts";

interface SendEvent {
  readonly caller: Caller;
  readonly request: SendExternalEventRequest;
  readonly record: Recorder<SentEvent>;
}

export interface SentEvent {
  readonly answer: EventAnswer;
  /** Whether the event was received before; `answer` is that of the first time. */
  readonly replayed: boolean;
}

const ATTEMPTS = 20;

/**
 * Delivers an event to all waiting interrupts that the sender can reach, in one commit, or holds it for the first that will wait. The
 * answer is stored in the same commit, so an event that is sent again counts once. A refused event leaves no record and may be sent again.
 */
export async function sendExternalEvent(host: Host, { caller, request, record }: SendEvent): Promise<SentEvent> {
  const { event, secrets } = await received(host.scrubber, caller, request);
  const holdMs = holdMsOf(host, request);
  let runId = "";
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const sent =
        (await replay(host, event, record)) ?? (await deliverOrHold(host, event, { holdMs, secrets, record }));
      if ("answer" in sent) return sent;
      if (sent.type === "version") runId = sent.runId;
    }
    throw new AppError("run_version_conflict", { runId });
  } catch (error) {
    // The same event may have been delivered a moment ago by another request.
    const sent = error instanceof AppError ? await replay(host, event, record) : undefined;
    if (sent === undefined) throw error;
    return sent;
  }
}

/** Secrets in the payload are kept for the waiting nodes. Id and type are shown to readers and must not be secrets. */
async function received(
  scrubber: Host["scrubber"],
  caller: Caller,
  request: SendExternalEventRequest,
): Promise<{ event: ReceivedEvent; secrets: readonly Secret[] }> {
  const { eventId, eventType } = request;
  for (const [name, text] of Object.entries({ eventId, eventType })) {
    if (scrubber.scrubText(text) === text) continue;
    throw validationError(`body/${name} looks like a credential; send another name`);
  }
  const { principal, keyId } = caller;
  const correlationId = correlationOf(request);
  const { value: payload, secrets } = await receivedAnswer(scrubber, request.payload);
  const event = { eventId, eventType, correlationId, payload, by: principal, keyId, reach: visibilityOf(caller) };
  return { event, secrets };
}

/** The correlation or its id; both together could name two waits. */
function correlationOf({ correlation, correlationId, payload }: SendExternalEventRequest): string {
  if (correlation !== undefined && correlationId === undefined) {
    requireConsistent(correlation, payload);
    return correlationIdOf(correlation);
  }
  if (correlationId !== undefined && correlation === undefined) return correlationId;
  throw validationError("body must have either correlation or correlationId, and not both");
}

function holdMsOf({ gates }: Host, { holdSeconds }: SendExternalEventRequest): number | undefined {
  if (holdSeconds === undefined) return undefined;
  const most = Math.floor(gates.eventRetentionMs / 1000);
  if (holdSeconds <= most) return holdSeconds * 1000;
  const problem = `body/holdSeconds must be at most ${most}, for which this host keeps events`;
  throw validationError(problem, { maxHoldSeconds: most });
}

interface Delivering {
  readonly holdMs: number | undefined;
  readonly secrets: readonly Secret[];
  readonly record: SendEvent["record"];
}

/** The refusal where another request changed one of the runs first, or sent the same event. */
async function deliverOrHold(host: Host, event: ReceivedEvent, delivering: Delivering): Promise<SentEvent | Refusal> {
  const done = await withRunsAbout(host, event.reach, event, (runs) => deliverTo(host, runs, event, delivering));
  if ("stored" in done && done.stored?.state === "held") await offer(host, done.stored);
  return "stored" in done ? done.sent : done;
}

interface Delivered {
  readonly sent: SentEvent;
  readonly stored: ExternalEventRecord | undefined;
}

async function deliverTo(
  host: Host,
  runs: readonly Run[],
  event: ReceivedEvent,
  { holdMs, secrets, record }: Delivering,
): Promise<Delivered | Refusal> {
  const nowMs = host.nowMs();
  const ruling = await checked(() => deliverEvent(runs, event, nowMs));
  const answers = ruling.delivered.map((one) => ({ ...one, events: withSecrets(one.events, secrets) }));
  const writes = await writeRuns(host, [...answers, ...ruling.expired]);
  const answer = ruling.refusal === undefined ? delivered(event, ruling, writes) : held(event, nowMs, holdMs);
  if (answer === undefined && writes.size === 0) throw ruling.refusal;
  const expiresAtMs = nowMs + (answer?.status === 202 && holdMs !== undefined ? holdMs : host.gates.eventRetentionMs);
  if (answer?.status === 202) await requireRoomToHold(host, event);
  const stored = answer && recordOf(event, answer, { atMs: nowMs, expiresAtMs });
  const idempotency = answer && record({ answer, replayed: false });
  const committed = await host.store.commit({
    tenant: event.reach.tenant,
    ...(writes.size === 0 ? {} : { runs: [...writes.values()] }),
    audit: [...auditOf(event, ruling, nowMs), ...heldAudit(event, answer, nowMs)],
    ...(stored === undefined ? {} : { externalEvents: [{ type: "put", event: stored, nowMs }] }),
    ...defined({ idempotency }),
  });
  if (!committed.ok) return again(committed.refusal);
  if (answer === undefined) throw ruling.refusal;
  return { sent: { answer, replayed: false }, stored };
}

/** Every sweep looks at all events that are held. Some that are sent at the same time may go beyond the limit. */
const HELD_MAX = 10_000;
const RETRY_AFTER_MS = 60_000;

async function requireRoomToHold({ store }: Host, { reach: { tenant } }: ReceivedEvent): Promise<void> {
  if ((await store.countHeldEvents(tenant, HELD_MAX)) < HELD_MAX) return;
  throw new AppError("rate_limited", {
    retryAfterMs: RETRY_AFTER_MS,
    scope: "held events of the tenant",
    limit: HELD_MAX,
  });
}

function again(refusal: Refusal): Refusal {
  if (refusal.type === "version" || refusal.type === "external-event") return refusal;
  throw refused(refusal);
}

function delivered(event: ReceivedEvent, ruling: EventRuling, writes: ReadonlyMap<string, RunWrite>): EventAnswer {
  const { eventId, correlationId } = event;
  const delivered = ruling.delivered.map(({ run, interrupt: { nodeId, interruptId } }) => {
    const { runId } = run;
    return { runId, nodeId, interruptId, status: (writes.get(runId)?.run ?? run).status };
  });
  return { status: 200, body: { eventId, correlationId, delivered } };
}

/** The answer for an event that is held; undefined where the request does not ask for that. */
function held(event: ReceivedEvent, nowMs: number, holdMs: number | undefined): EventAnswer | undefined {
  if (holdMs === undefined) return undefined;
  const { eventId, correlationId } = event;
  const expiresAt = new Date(nowMs + holdMs).toISOString();
  return { status: 202, body: { eventId, correlationId, held: true, expiresAt } };
}

function auditOf(event: ReceivedEvent, { delivered, expired }: EventRuling, nowMs: number): AuditDraft[] {
  const { eventId, eventType, correlationId } = event;
  const by = { principal: event.by, keyId: event.keyId };
  const about = { eventId, eventType, correlationId };
  return [
    ...delivered.map(({ run, interrupt: { interruptId, nodeId } }) => {
      const details = { ...about, interruptId, nodeId };
      return auditDraft(by, nowMs, run.runId, { action: "external_event.delivered", details });
    }),
    ...expired.map(({ run, interrupt: { interruptId, nodeId } }) => {
      return auditDraft(by, nowMs, run.runId, { action: "interrupt.timed_out", details: { interruptId, nodeId } });
    }),
  ];
}

function heldAudit(event: ReceivedEvent, answer: EventAnswer | undefined, nowMs: number): AuditDraft[] {
  if (answer?.status !== 202) return [];
  const { eventId, eventType, correlationId, by, keyId } = event;
  const details = { eventId, eventType, expiresAt: answer.body.expiresAt };
  return [auditDraft({ principal: by, keyId }, nowMs, correlationId, { action: "external_event.held", details })];
}

/** Delivers to an interrupt that began to wait while the event was being stored. The event is held already; where this fails, the sweep delivers. */
async function offer(host: Host, event: ExternalEventRecord): Promise<void> {
  await deliverHeld(host, event).catch(() => {});
}

/** The first answer to this event, if it had one; recorded under the idempotency key of this request too. */
async function replay(host: Host, event: ReceivedEvent, record: SendEvent["record"]): Promise<SentEvent | undefined> {
  const earlier = await host.store.readExternalEvent(keyOf(event));
  if (earlier === undefined || earlier.expiresAtMs <= host.nowMs()) return undefined;
  const sent: SentEvent = { answer: answerOf(earlier), replayed: true };
  const idempotency = record(sent);
  if (idempotency === undefined) return sent;
  const committed = await host.store.commit({ tenant: event.reach.tenant, idempotency });
  if (!committed.ok) throw refused(committed.refusal);
  return sent;
}
