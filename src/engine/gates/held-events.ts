import { defined } from "../../protocol/defined.ts";
import { AppError } from "../../protocol/errors.ts";
import type { RunEvent } from "../../protocol/events.ts";
import type { ExternalEventDelivered, ExternalEventHeld } from "../../protocol/gates/api.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { ExternalEventKey, ExternalEventRecord, HeldEvent } from "../../store/port/gates.ts";
import { auditDraft } from "../execute.ts";
import { withRunsWaiting, writeRuns } from "../families/waiting-runs.ts";
import type { Host } from "../host.ts";
import { type Sweep, type SweepSettings, startSweep } from "../shared/sweep.ts";
import { ownTurn } from "../worker/pauses.ts";
import { type ExternalEvent, giveHeldEvent } from "./decide/deliver-event.ts";
import { receivedAnswer, withSecrets } from "./seal-answer.ts";

/** An external event as it was received, with its sender. */
export interface ReceivedEvent extends ExternalEvent {
  /** The runs that it can be delivered to. */
  readonly reach: Visibility;
  readonly keyId: string;
}

export type EventAnswer =
  | { readonly status: 200; readonly body: ExternalEventDelivered }
  | { readonly status: 202; readonly body: ExternalEventHeld };

export function keyOf({ reach, correlationId, eventId }: ReceivedEvent): ExternalEventKey {
  return { tenant: reach.tenant, workspace: reach.workspace ?? "", correlationId, eventId };
}

export function recordOf(
  event: ReceivedEvent,
  answer: EventAnswer,
  times: Pick<ExternalEventRecord, "atMs" | "expiresAtMs">,
): ExternalEventRecord {
  const { eventType, payload, by, keyId } = event;
  const isHeld = answer.status === 202;
  return {
    ...keyOf(event),
    eventType,
    state: isHeld ? "held" : "delivered",
    payload: isHeld ? JSON.stringify({ payload, by, keyId }) : "{}",
    answer: JSON.stringify(answer),
    ...times,
  };
}

function eventOf(record: ExternalEventRecord): ReceivedEvent {
  const { tenant, workspace, correlationId, eventId, eventType } = record;
  const sent = JSON.parse(record.payload) as Pick<ReceivedEvent, "payload" | "by" | "keyId">;
  return { ...sent, eventId, eventType, correlationId, reach: { tenant, ...(workspace === "" ? {} : { workspace }) } };
}

/** The first answer, byte for byte. */
export function answerOf({ answer }: ExternalEventRecord): EventAnswer {
  return JSON.parse(answer) as EventAnswer;
}

/**
 * A held event and the wait for it are written by two independent commits. The process that made either commit looks for the other, so at
 * least one of the two finds both; the sweep covers processes that ended before they looked. The commit that delivers succeeds once.
 */
type HeldOutcome =
  | "delivered"
  /** The event has expired, or no waiting interrupt accepts its payload. */
  | "not-taken"
  | "no-wait";

const ATTEMPTS = 20;

export async function deliverHeld(host: Host, key: ExternalEventKey): Promise<HeldOutcome> {
  const record = await host.store.readExternalEvent(key);
  if (record?.state !== "held") return "delivered";
  const held = eventOf(record);
  const { value: payload, secrets } = await receivedAnswer(host.scrubber, held.payload);
  const event = { ...held, payload };
  const { tenant } = record;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const nowMs = host.nowMs();
    if (record.expiresAtMs <= nowMs) return "not-taken";
    const outcome = await withRunsWaiting(host, event.reach, event, async (runs): Promise<HeldOutcome | undefined> => {
      const { waiting, given } = giveHeldEvent(runs, event, nowMs);
      if (given === undefined) return waiting > 0 ? "not-taken" : "no-wait";
      const { eventId, eventType, correlationId, by, keyId } = event;
      const { interruptId, nodeId } = given.interrupt;
      const answer = { ...given, events: withSecrets(given.events, secrets) };
      const details = { eventId, eventType, correlationId, interruptId, nodeId, heldSince: instant(record.atMs) };
      const note = { action: "external_event.delivered", details };
      const committed = await host.store.commit({
        tenant,
        runs: [...(await writeRuns(host, [answer])).values()],
        audit: [auditDraft({ principal: by, keyId }, nowMs, given.run.runId, note)],
        externalEvents: [
          // Repeated sends get the first answer.
          {
            type: "delivered",
            key: keyOf(event),
            answer: record.answer,
            expiresAtMs: nowMs + host.gates.eventRetentionMs,
          },
        ],
      });
      return committed.ok || committed.refusal.type === "external-event" ? "delivered" : undefined;
    });
    if (outcome !== undefined) return outcome;
  }
  throw new AppError("unavailable", { reason: `Held event ${record.eventId} could not be delivered for now` });
}

function instant(atMs: number): string {
  return new Date(atMs).toISOString();
}

/** The interrupts for external events that were raised by these events. */
export function externalWaits(events: readonly RunEvent[]): string[] {
  const raised: string[] = [];
  for (const event of events) {
    if (event.type !== "interrupt.requested" || event.payload.kind !== "external-event") continue;
    raised.push(event.payload.interruptId);
  }
  return raised;
}

/** Held events of one kind that are offered to a new wait: the first is enough unless its payload is refused. */
const OFFERED = 100;

/** Delivers events that arrived before the run waited for them. The wait is durable already; where this fails, the sweep delivers. */
export async function offerHeld(host: Host, run: Run, interruptIds: readonly string[]): Promise<void> {
  try {
    for (const interruptId of interruptIds) await offerTo(host, run, interruptId);
  } catch {}
}

async function offerTo(host: Host, { interrupts, owner }: Run, interruptId: string): Promise<void> {
  const { correlationId, data } = interrupts[interruptId] ?? {};
  if (correlationId === undefined) return;
  const eventType = String(data?.["eventType"]);
  const { tenant, workspace = "" } = owner;
  const query = { tenant, correlationId, eventType, nowMs: host.nowMs(), limit: OFFERED };
  for (const held of await host.store.heldEvents(query)) {
    if (held.workspace !== "" && held.workspace !== workspace) continue;
    if ((await deliverHeld(host, held)) === "no-wait") return;
    // Each event may be compared with a thousand waiting runs.
    await ownTurn();
  }
}

const PAGE = 100;

/** Events that one sweep examines; the next sweep continues after them. */
const SWEPT_AT_ONCE = 1000;

/** Events that no wait accepts are skipped for so long, and so many are remembered. A new wait looks for its events by itself. */
const SKIPPED_MS = 600_000;
const SKIPPED_MAX = 10_000;

/** Delivers the held events of processes that ended too early. Any number of processes may sweep. */
export function sweepHeldEvents(host: Host, settings: SweepSettings): Sweep {
  const skipped = new Set<string>();
  let skippedSinceMs = host.nowMs();
  let after: HeldEvent | undefined;
  const deliver = async (held: HeldEvent): Promise<void> => {
    const { tenant, workspace, correlationId, eventId } = held;
    const name = JSON.stringify([tenant, workspace, correlationId, eventId]);
    if (skipped.has(name)) return;
    if ((await deliverHeld(host, held)) === "not-taken") skipped.add(name);
  };
  return startSweep(settings, async (isStopping) => {
    const nowMs = host.nowMs();
    if (nowMs - skippedSinceMs >= SKIPPED_MS || skipped.size > SKIPPED_MAX) {
      skipped.clear();
      skippedSinceMs = nowMs;
    }
    for (let swept = 0; swept < SWEPT_AT_ONCE && !isStopping(); swept += PAGE) {
      const page = await host.store.heldEvents(defined({ nowMs, limit: PAGE, after }));
      for (const held of page) if (!isStopping()) await deliver(held).catch(settings.onError);
      after = page.length < PAGE ? undefined : page.at(-1);
      if (after === undefined) return;
    }
  });
}
