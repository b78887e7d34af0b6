import { ACTOR_KINDS } from "../judgments/annotation.ts";
import { ErrorEnvelope } from "../runs/api.ts";
import { RunStatusSchema } from "../runs/run-status.ts";
import { Count, Cursor, closed, Id, Instant, nullable, Positive, Share, type Static, Type } from "../schema.ts";
import { BINDING_FIELDS, SHOWN_VOTE, Tally } from "./api.ts";
import { APPROVAL_ACTIONS, INTERRUPT_KINDS, INTERRUPT_STATUSES } from "./interrupt.ts";

const Action = Type.Enum([...APPROVAL_ACTIONS]);

/** Interrupts that wait for the caller's decision. */
export const InboxItem = Type.Object(
  {
    interruptId: Type.String(),
    runId: Type.String(),
    nodeId: Type.String(),
    workflowId: Type.String(),
    kind: Type.Enum([...INTERRUPT_KINDS]),
    title: Type.String(),
    requestedAt: Type.String(),
    ageSeconds: Count,
    deadline: nullable(Type.String()),
    required: Positive,
    granted: Count,
    rejected: Count,
    votes: Type.Array(Type.Object({ voter: Type.String(), action: Action, ...SHOWN_VOTE }, closed)),
    mine: nullable(Action, { description: "how the caller has voted" }),
    governed: Type.Boolean(),
    revision: Count,
    artifactDigest: Type.String(),
    correlationId: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    actions: Type.Optional(Type.Array(Action)),
    requiredRole: Type.Optional(Type.String()),
    requiredScope: Type.Optional(Type.String()),
  },
  closed,
);
export type InboxItem = Static<typeof InboxItem>;

/** An open flag: a request to inspect a run. */
export const FlaggedItem = Type.Object(
  {
    annotationId: Type.String(),
    runId: Type.String(),
    workflowId: Type.String(),
    nodeId: Type.Optional(Type.String()),
    actor: Type.String(),
    actorKind: Type.Enum([...ACTOR_KINDS]),
    note: Type.Optional(Type.String()),
    createdAt: Type.String(),
  },
  closed,
);
export type FlaggedItem = Static<typeof FlaggedItem>;

export const InboxResponse = Type.Object(
  {
    items: Type.Array(InboxItem),
    nextCursor: Type.Optional(Type.String()),
    flagged: Type.Optional(Type.Array(FlaggedItem, { description: "open flags, oldest first; with flagged=true" })),
    nextFlaggedCursor: Type.Optional(Type.String()),
  },
  closed,
);
export type InboxResponse = Static<typeof InboxResponse>;

export const INBOX_FILTERS = {
  workflowId: Type.Optional(Id),
  kind: Type.Optional(Type.Enum([...INTERRUPT_KINDS])),
  runId: Type.Optional(Id),
};
const InboxFilter = Type.Object(INBOX_FILTERS, closed);
export type InboxFilter = Static<typeof InboxFilter>;

export const InboxQuery = Type.Object(
  {
    ...INBOX_FILTERS,
    mine: Type.Optional(
      Type.Enum(["true", "false"], { description: "only gates where the caller has, or has not, voted" }),
    ),
    flagged: Type.Optional(
      Type.Enum(["true", "false"], { description: "also runs with an open flag; needs scope runs:read" }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, description: "of each of the two lists" })),
    cursor: Cursor,
    flaggedCursor: Type.Optional(Type.String({ minLength: 1, maxLength: 512, description: "of the flags" })),
  },
  closed,
);
export type InboxQuery = Static<typeof InboxQuery>;

export const MAX_DECISIONS = 100;

export const DecideRequest = Type.Object(
  {
    items: Type.Array(Type.Object({ interruptId: Id, resumeValue: Type.Unknown(), ...BINDING_FIELDS }, closed), {
      minItems: 1,
      maxItems: MAX_DECISIONS,
    }),
  },
  closed,
);
export type DecideRequest = Static<typeof DecideRequest>;

export const DecideResponse = Type.Object(
  {
    results: Type.Array(
      Type.Object(
        {
          interruptId: Type.String(),
          ok: Type.Boolean(),
          runId: Type.Optional(Type.String()),
          nodeId: Type.Optional(Type.String()),
          status: Type.Optional(RunStatusSchema),
          resolved: Type.Optional(Type.Boolean()),
          outcome: Type.Optional(Type.String()),
          tally: Type.Optional(Tally),
          notCounted: Type.Optional(Type.String()),
          error: Type.Optional(ErrorEnvelope),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type DecideResponse = Static<typeof DecideResponse>;

/** The frames of the live inbox, by the name of their event. */
export const INBOX_EVENTS = {
  "inbox.opened": {
    summary: "An item that waits for the caller: first all open ones, then new ones.",
    data: InboxItem,
  },
  "inbox.updated": { summary: "A vote was cast, and it still waits.", data: InboxItem },
  "inbox.closed": {
    summary: "It no longer waits for the caller. With status `open` it still waits for others.",
    data: Type.Object(
      {
        interruptId: Type.String(),
        runId: Type.String(),
        status: Type.Enum([...INTERRUPT_STATUSES]),
        outcome: Type.Optional(Type.String()),
      },
      closed,
    ),
  },
  "inbox.snapshot": {
    summary: "Sent once, after all open items: their number.",
    data: Type.Object({ open: Count }, closed),
  },
} as const;
export type InboxEvent = keyof typeof INBOX_EVENTS;
export type InboxClosed = Static<(typeof INBOX_EVENTS)["inbox.closed"]["data"]>;

// --- gate health ----------------------------------------------------------------------------------------------

export const GATE_GROUPINGS = ["workflow", "node", "principal", "day"] as const;
export type GateGrouping = (typeof GATE_GROUPINGS)[number];

const Seconds = nullable(Type.Number({ minimum: 0 }));
const MaybeShare = nullable(Share);

const FIGURES = {
  opened: Count,
  decided: Count,
  rejected: Count,
  timedOut: Count,
  overridden: Count,
  medianSeconds: Seconds,
  p95Seconds: Seconds,
  underTenSeconds: Count,
  timeoutShare: MaybeShare,
  overrideShare: MaybeShare,
};
export const GateFigures = Type.Object(FIGURES, closed);
export type GateFigures = Static<typeof GateFigures>;

const GroupKey = Type.Object(
  {
    workflowId: Type.Optional(Type.String()),
    nodeId: Type.Optional(Type.String()),
    principal: Type.Optional(Type.String()),
    day: Type.Optional(Type.String()),
  },
  closed,
);

export const GateSummaryResponse = Type.Object(
  { total: GateFigures, groups: Type.Array(Type.Object({ key: GroupKey, ...FIGURES }, closed)) },
  closed,
);
export type GateSummaryResponse = Static<typeof GateSummaryResponse>;

export const GateSummaryQuery = Type.Object(
  {
    workflowId: INBOX_FILTERS.workflowId,
    from: Type.Optional(Instant),
    to: Type.Optional(Instant),
    groupBy: Type.Optional(Type.Enum([...GATE_GROUPINGS])),
  },
  closed,
);
export type GateSummaryQuery = Static<typeof GateSummaryQuery>;
