import { INTERRUPT_KINDS } from "./interrupt.ts";
import { RunStatusSchema } from "./run-status.ts";
import { type Static, Type } from "./schema.ts";

const closed = { additionalProperties: false } as const;
const open = { additionalProperties: true } as const;
const Count = Type.Integer({ minimum: 0 });

export const ResolveInterruptRequest = Type.Object({ resumeValue: Type.Unknown() }, closed);

/** The request as it is read: without a value it is refused by the gate, with the code of that gate. */
export const ResolveInterruptBody = Type.Partial(ResolveInterruptRequest, closed);
export type ResolveInterruptBody = Static<typeof ResolveInterruptBody>;

export const Tally = Type.Object(
  { granted: Count, rejected: Count, humans: Count, required: Type.Integer({ minimum: 1 }) },
  closed,
);

export const ResolveInterruptResponse = Type.Object(
  {
    runId: Type.String(),
    nodeId: Type.String(),
    interruptId: Type.String(),
    status: RunStatusSchema,
    resolved: Type.Boolean({ description: "false while a gate waits for more votes" }),
    outcome: Type.Optional(Type.String()),
    tally: Type.Optional(Tally),
  },
  closed,
);
export type ResolveInterruptResponse = Static<typeof ResolveInterruptResponse>;

/** What a token shows of its interrupt. */
export const InterruptView = Type.Object(
  {
    runId: Type.String(),
    nodeId: Type.String(),
    interruptId: Type.String(),
    kind: Type.Enum([...INTERRUPT_KINDS]),
    key: Type.String(),
    data: Type.Record(Type.String(), Type.Unknown()),
    resumeSchema: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    requestedAt: Type.String(),
    deadline: Type.Optional(Type.String()),
    expiresAt: Type.Optional(Type.String()),
    correlationId: Type.Optional(Type.String()),
    tally: Type.Optional(Tally),
    votes: Type.Optional(
      Type.Array(
        Type.Object(
          { voter: Type.String(), action: Type.String(), at: Type.String(), reason: Type.Optional(Type.String()) },
          closed,
        ),
      ),
    ),
    remarks: Type.Optional(
      Type.Array(Type.Object({ by: Type.String(), text: Type.String(), at: Type.String() }, closed)),
    ),
    edited: Type.Optional(Type.Object({ data: Type.Unknown() }, closed)),
    interruptToken: Type.Optional(Type.String({ description: "only for callers who may answer" })),
    callbackUrl: Type.Optional(Type.String({ description: "where the token is posted to" })),
  },
  open,
);
export type InterruptView = Static<typeof InterruptView>;
