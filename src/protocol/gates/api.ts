import { RunStatusSchema } from "../runs/run-status.ts";
import { Count, closed, JsonObject, open, Positive, ShortName, type Static, Timestamp, Type } from "../schema.ts";
import { INTERRUPT_KINDS } from "./interrupt.ts";

export const ResolveInterruptRequest = Type.Object({ resumeValue: Type.Unknown() }, closed);

/** The request as it is read: without a value it is refused by the gate, with the code of that gate. */
export const ResolveInterruptBody = Type.Partial(ResolveInterruptRequest, closed);
export type ResolveInterruptBody = Static<typeof ResolveInterruptBody>;

/** The state of the gate that a vote was given for. Query parameters on the protocol's routes, whose bodies are closed; members on our own. */
export const BINDING_FIELDS = {
  revision: Type.Optional(
    Type.Integer({ minimum: 0, description: "of the interrupt that was read: how often its artifact was edited" }),
  ),
  artifactDigest: Type.Optional(
    Type.String({ minLength: 64, maxLength: 64, description: "of the interrupt that was read, in hex" }),
  ),
};

export const VoteBinding = Type.Object(
  {
    interruptId: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: "the interrupt that was read; another one is 409" }),
    ),
    ...BINDING_FIELDS,
  },
  open,
);
export type VoteBinding = Static<typeof VoteBinding>;

const NotCounted = Type.Optional(
  Type.String({ description: "why the vote is recorded and does not count toward the quorum" }),
);

/** A vote as it is shown. */
export const SHOWN_VOTE = { at: Type.String(), reason: Type.Optional(Type.String()), notCounted: NotCounted };

export const Tally = Type.Object({ granted: Count, rejected: Count, humans: Count, required: Positive }, closed);

export const ResolveInterruptResponse = Type.Object(
  {
    runId: Type.String(),
    nodeId: Type.String(),
    interruptId: Type.String(),
    status: RunStatusSchema,
    resolved: Type.Boolean({ description: "false while a gate waits for more votes" }),
    outcome: Type.Optional(Type.String()),
    tally: Type.Optional(Tally),
    notCounted: NotCounted,
  },
  closed,
);
export type ResolveInterruptResponse = Static<typeof ResolveInterruptResponse>;

/** The view of an interrupt that its token gives. */
export const InterruptView = Type.Object(
  {
    runId: Type.String(),
    nodeId: Type.String(),
    interruptId: Type.String(),
    kind: Type.Enum([...INTERRUPT_KINDS]),
    key: Type.String(),
    data: JsonObject,
    resumeSchema: Type.Optional(JsonObject),
    requestedAt: Type.String(),
    deadline: Type.Optional(Type.String()),
    expiresAt: Type.Optional(Type.String()),
    correlationId: Type.Optional(Type.String()),
    tally: Type.Optional(Tally),
    votes: Type.Optional(
      Type.Array(Type.Object({ voter: Type.String(), action: Type.String(), ...SHOWN_VOTE }, closed)),
    ),
    remarks: Type.Optional(
      Type.Array(Type.Object({ by: Type.String(), text: Type.String(), at: Type.String() }, closed)),
    ),
    edited: Type.Optional(Type.Object({ data: Type.Unknown() }, closed)),
    hidden: Type.Optional(
      Type.Literal(true, {
        description:
          "parts of what an approval is about are secrets of the run: voters see a mask, later nodes get the value",
      }),
    ),
    revision: Type.Optional(Type.Integer({ minimum: 0, description: "how often the artifact was edited here" })),
    artifactDigest: Type.Optional(Type.String({ description: "SHA-256 of what is shown to a voter, in hex" })),
    interruptToken: Type.Optional(Type.String({ description: "only for callers who may answer" })),
    callbackUrl: Type.Optional(Type.String({ description: "where the token is posted to" })),
  },
  open,
);
export type InterruptView = Static<typeof InterruptView>;

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
