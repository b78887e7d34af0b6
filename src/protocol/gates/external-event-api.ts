import { RunStatusSchema } from "../runs/run-status.ts";
import { closed, Positive, ShortName, type Static, Timestamp, Type } from "../schema.ts";

/** Bodies of the route for external events. */

export const SendExternalEventRequest = Type.Object(
  {
    eventType: Type.String({ minLength: 1, maxLength: 1024 }),
    eventId: ShortName,
    correlation: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        minProperties: 1,
        description: "required unless correlationId is given",
      }),
    ),
    correlationId: Type.Optional(
      Type.String({
        pattern: "^[0-9a-f]{64}$",
        description: "of the wait, as its run shows it, in place of correlation",
      }),
    ),
    payload: Type.Unknown(),
    /** How long to keep it when no run waits for it yet; at most the retention that discovery advertises. */
    holdSeconds: Type.Optional(Positive),
  },
  closed,
);
export type SendExternalEventRequest = Static<typeof SendExternalEventRequest>;

export const ExternalEventDelivered = Type.Object(
  {
    eventId: Type.String(),
    correlationId: Type.String(),
    delivered: Type.Array(
      Type.Object(
        {
          runId: Type.String(),
          nodeId: Type.String(),
          interruptId: Type.String(),
          status: RunStatusSchema,
        },
        closed,
      ),
    ),
  },
  closed,
);
export type ExternalEventDelivered = Static<typeof ExternalEventDelivered>;

/** No run waits for it yet; it goes to the first that does. */
export const ExternalEventHeld = Type.Object(
  {
    eventId: Type.String(),
    correlationId: Type.String(),
    held: Type.Literal(true),
    expiresAt: Timestamp,
  },
  closed,
);
export type ExternalEventHeld = Static<typeof ExternalEventHeld>;

/** Marks a response as the recorded one of a repeated event. */
export const EVENT_REPLAYED = "assay-event-replayed";
