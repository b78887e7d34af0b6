import type { ExternalEventDelivered, ExternalEventHeld } from "../../protocol/gates/external-event-api.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { ExternalEventKey, ExternalEventRecord } from "../../store/port/gates.ts";
import type { ExternalEvent } from "./decide/deliver-event.ts";

/** An external event as it was received, with whose word it is. */
export interface ReceivedEvent extends ExternalEvent {
  /** Whose runs it can reach. */
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

export function eventOf(record: ExternalEventRecord): ReceivedEvent {
  const { tenant, workspace, correlationId, eventId, eventType } = record;
  const sent = JSON.parse(record.payload) as Pick<ReceivedEvent, "payload" | "by" | "keyId">;
  return { ...sent, eventId, eventType, correlationId, reach: { tenant, ...(workspace === "" ? {} : { workspace }) } };
}

/** As it was given the first time, byte for byte. */
export function answerOf({ answer }: ExternalEventRecord): EventAnswer {
  return JSON.parse(answer) as EventAnswer;
}
