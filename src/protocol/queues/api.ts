import { ACTOR_KINDS } from "../judgments/annotation.ts";
import { RunStatusSchema } from "../runs/run-status.ts";
import { Count, Cursor, closed, Id, Limit, nullable, ShortName, type Static, Timestamp, Type } from "../schema.ts";

/** Review queues: rules, items, and requests of owners and reviewers. */
const Reason = Type.String({ minLength: 1, maxLength: 2000 });

export const RATING_MAX = 5;
export const REVIEWERS_MAX = 20;
const LABELS_MAX = 50;
const LEASE_SECONDS_MAX = 86_400;

// --- rules --------------------------------------------------------------------------------------------------

export const QUEUE_QUERY = {
  workflowId: Type.Optional(Id),
  agentId: Type.Optional(ShortName),
  status: Type.Optional(RunStatusSchema),
  nodeId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: "judge this node; needs workflowId" }),
  ),
  flagged: Type.Optional(Type.Literal(true, { description: "runs with an open flag" })),
  label: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: "runs with this label" })),
  ratingMax: Type.Optional(
    Type.Integer({ minimum: 1, maximum: RATING_MAX, description: "runs rated this or worse by anybody" }),
  ),
  from: Type.Optional(
    Type.String({ minLength: 20, maxLength: 40, description: "an instant; what is older stays out" }),
  ),
  sample: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 1, description: "a share of the runs, always the same ones" }),
  ),
};
export const QueueQuery = Type.Object(QUEUE_QUERY, closed);
export type QueueQuery = Static<typeof QueueQuery>;

export const QueueJudgment = Type.Union([
  Type.Object({ kind: Type.Literal("rating") }, closed),
  Type.Object(
    {
      kind: Type.Literal("label"),
      labels: Type.Array(ShortName, { minItems: 2, maxItems: LABELS_MAX }),
    },
    closed,
  ),
  Type.Object({ kind: Type.Literal("flag") }, closed),
]);
export type QueueJudgment = Static<typeof QueueJudgment>;

/** Principals by name, role or group. Roles and groups are evaluated at the time of the request. */
export const PrincipalSelector = Type.Object(
  {
    people: Type.Optional(Type.Array(ShortName, { maxItems: 200 })),
    roles: Type.Optional(Type.Array(ShortName, { maxItems: 50 })),
    groups: Type.Optional(Type.Array(ShortName, { maxItems: 50 })),
  },
  closed,
);
export type PrincipalSelector = Static<typeof PrincipalSelector>;

export const CORRECTIONS = ["off", "optional", "required"] as const;

const CHANGEABLE = {
  name: Id,
  description: Type.String({ maxLength: 2000 }),
  noteRequired: Type.Boolean(),
  correction: Type.Enum([...CORRECTIONS]),
  reviewersRequired: Type.Integer({
    minimum: 1,
    maximum: REVIEWERS_MAX,
    description: "of items that are added from now on",
  }),
  blind: Type.Boolean({ description: "reviewers who have yet to judge do not see others' judgments" }),
  assign: PrincipalSelector,
  adjudicators: PrincipalSelector,
  selfAdjudication: Type.Boolean({ description: "whether a reviewer who judged an item may adjudicate it" }),
  maxSpread: Type.Integer({
    minimum: 0,
    maximum: RATING_MAX - 1,
    description: "how far ratings may differ and still agree",
  }),
  leaseSeconds: Type.Integer({ minimum: 1, maximum: LEASE_SECONDS_MAX }),
};

export const CreateQueueRequest = Type.Object(
  {
    ...Type.Partial(Type.Object(CHANGEABLE)).properties,
    name: CHANGEABLE.name,
    query: Type.Optional(QueueQuery),
    judgment: QueueJudgment,
  },
  closed,
);
export type CreateQueueRequest = Static<typeof CreateQueueRequest>;

export const QUEUE_STATES = ["open", "closed"] as const;

export const UpdateQueueRequest = Type.Object(
  {
    revision: Type.Integer({ minimum: 1, description: "of the queue as it was read" }),
    ...Type.Partial(Type.Object(CHANGEABLE)).properties,
    assign: Type.Optional(nullable(PrincipalSelector, { description: "null: every principal who may annotate" })),
    adjudicators: Type.Optional(nullable(PrincipalSelector)),
    query: Type.Optional(nullable(QueueQuery, { description: "null: filled by hand only" })),
    state: Type.Optional(Type.Enum([...QUEUE_STATES])),
  },
  closed,
);
export type UpdateQueueRequest = Static<typeof UpdateQueueRequest>;

/** The rules of a queue with all defaults filled in. */
export const QUEUE_RULES = {
  ...CHANGEABLE,
  description: Type.Optional(CHANGEABLE.description),
  query: Type.Optional(QueueQuery),
  judgment: QueueJudgment,
  assign: Type.Optional(PrincipalSelector),
  adjudicators: Type.Optional(PrincipalSelector),
};
export const QueueRules = Type.Object(QUEUE_RULES, closed);
export type QueueRules = Static<typeof QueueRules>;

// --- queues -------------------------------------------------------------------------------------------------

const QUEUE_INFO = {
  queueId: Type.String(),
  workspace: Type.Optional(Type.String()),
  state: Type.Enum([...QUEUE_STATES]),
  revision: Type.Integer({ minimum: 1, description: "counts the changes of its rules" }),
  createdAt: Timestamp,
  createdBy: Type.String(),
  ...QUEUE_RULES,
};
export const QueueInfo = Type.Object(QUEUE_INFO, closed);
export type QueueInfo = Static<typeof QueueInfo>;

export const QUEUE_ITEM_STATES = ["open", "disputed", "done", "closed"] as const;
export type QueueItemState = (typeof QUEUE_ITEM_STATES)[number];

export const QueueView = Type.Object(
  {
    ...QUEUE_INFO,
    items: Type.Object({ total: Count, open: Count, disputed: Count, done: Count, closed: Count }, closed),
    reviewers: Type.Array(
      Type.Object({ reviewer: Type.String(), judged: Count, skipped: Count, leased: Count }, closed),
    ),
    filling: Type.Boolean({ description: "whether there are runs that the query has yet to be asked about" }),
  },
  closed,
);
export type QueueView = Static<typeof QueueView>;

const PAGING = {
  limit: Limit,
  cursor: Cursor,
};
const nextCursor = Type.Optional(Type.String());

export const QueueListQuery = Type.Object(PAGING, closed);
export type QueueListQuery = Static<typeof QueueListQuery>;
export const QueuePage = Type.Object({ queues: Type.Array(QueueInfo), nextCursor }, closed);
export type QueuePage = Static<typeof QueuePage>;

// --- items --------------------------------------------------------------------------------------------------

/** 1 to 5 for a rating, one of the labels, or whether it is flagged. */
export const JudgmentValue = Type.Union([Type.Integer({ minimum: 1, maximum: RATING_MAX }), ShortName, Type.Boolean()]);
export type JudgmentValue = Static<typeof JudgmentValue>;

export const REVIEW_STATES = ["leased", "judged", "skipped"] as const;

const ReviewerJudgment = Type.Object(
  {
    reviewer: Type.String(),
    kind: Type.Enum([...ACTOR_KINDS]),
    value: JudgmentValue,
    at: Timestamp,
    annotationIds: Type.Array(Type.String()),
    revised: Type.Optional(Type.Literal(true)),
  },
  closed,
);

const MyReview = Type.Object(
  {
    status: Type.Enum([...REVIEW_STATES]),
    at: Timestamp,
    until: Type.Optional(Type.String({ description: "of a lease" })),
    value: Type.Optional(JudgmentValue),
    reason: Type.Optional(Type.String({ description: "of a skip" })),
  },
  closed,
);

const FinalJudgment = Type.Object(
  {
    value: JudgmentValue,
    how: Type.Enum(["agreed", "adjudicated"]),
    at: Timestamp,
    by: Type.Optional(Type.String({ description: "who adjudicated" })),
    annotationIds: Type.Optional(Type.Array(Type.String())),
  },
  closed,
);

export const QueueItemView = Type.Object(
  {
    itemId: Type.String(),
    queueId: Type.String(),
    runId: Type.String(),
    nodeId: Type.Optional(Type.String()),
    eventId: Type.Optional(Type.String({ description: "the event of the run that is judged" })),
    workflowId: Type.String(),
    agentId: Type.Optional(Type.String({ description: "the agent that is judged" })),
    state: Type.Enum([...QUEUE_ITEM_STATES]),
    round: Type.Integer({ minimum: 1, description: "counts how often it was given back for new judgments" }),
    required: Type.Integer({ minimum: 1, description: "how many judgments it needs" }),
    judged: Count,
    leased: Type.Integer({ minimum: 0, description: "now, by reviewers who have yet to judge" }),
    addedBy: Type.Optional(Type.String({ description: "who added it by hand" })),
    createdAt: Timestamp,
    mine: nullable(MyReview, { description: "what the caller has to do with it" }),
    judgments: nullable(Type.Array(ReviewerJudgment), {
      description: "null while they are kept from the caller",
    }),
    skips: Type.Union(
      [Type.Array(Type.Object({ reviewer: Type.String(), reason: Type.String(), at: Timestamp }, closed)), Type.Null()],
      { description: "null while they are kept from the caller" },
    ),
    final: nullable(FinalJudgment),
  },
  closed,
);
export type QueueItemView = Static<typeof QueueItemView>;

export const QueueItemListQuery = Type.Object(
  {
    ...PAGING,
    state: Type.Optional(Type.Enum([...QUEUE_ITEM_STATES])),
    reviewer: Type.Optional(ShortName),
    review: Type.Optional(Type.Enum([...REVIEW_STATES], { description: "of that reviewer, or of anybody" })),
  },
  closed,
);
export type QueueItemListQuery = Static<typeof QueueItemListQuery>;

export const QueueItemPage = Type.Object({ items: Type.Array(QueueItemView), nextCursor }, closed);
export type QueueItemPage = Static<typeof QueueItemPage>;

export const ADD_MAX = 100;
export const AddItemsRequest = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          runId: Id,
          nodeId: Type.Optional(Id),
          eventId: Type.Optional(
            Type.String({ minLength: 1, maxLength: 128, description: "one event of the run; not with nodeId" }),
          ),
        },
        closed,
      ),
      { minItems: 1, maxItems: ADD_MAX },
    ),
  },
  closed,
);
export type AddItemsRequest = Static<typeof AddItemsRequest>;

export const AddItemsResponse = Type.Object(
  { added: Type.Array(QueueItemView), known: Type.Integer({ minimum: 0, description: "how many it had already" }) },
  closed,
);
export type AddItemsResponse = Static<typeof AddItemsResponse>;

const LeaseSeconds = Type.Optional(Type.Integer({ minimum: 1, maximum: LEASE_SECONDS_MAX }));
export const LeaseRequest = Type.Object({ leaseSeconds: LeaseSeconds }, closed);
export type LeaseRequest = Static<typeof LeaseRequest>;

export const NextItemResponse = Type.Object(
  { item: nullable(QueueItemView, { description: "null when there is nothing for the caller now" }) },
  closed,
);
export type NextItemResponse = Static<typeof NextItemResponse>;

const JUDGE = {
  value: JudgmentValue,
  note: Type.Optional(Type.String({ minLength: 1, maxLength: 20_000 })),
  correction: Type.Optional(Type.String({ minLength: 1, maxLength: 200_000, description: "what it should have been" })),
};
export const JudgeRequest = Type.Object(
  {
    ...JUDGE,
    confidence: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "agents only" })),
    revise: Type.Optional(Type.Boolean({ description: "replace the caller's own judgment" })),
  },
  closed,
);
export type JudgeRequest = Static<typeof JudgeRequest>;

export const AdjudicateRequest = Type.Object(JUDGE, closed);
export type AdjudicateRequest = Static<typeof AdjudicateRequest>;

export const SkipRequest = Type.Object({ reason: Reason }, closed);
export type SkipRequest = Static<typeof SkipRequest>;

export const ReleaseRequest = Type.Object({}, closed);

export const RequeueRequest = Type.Object({ reason: Type.Optional(Reason) }, closed);
export type RequeueRequest = Static<typeof RequeueRequest>;

export const CloseItemRequest = Type.Object({ reason: Reason }, closed);
export type CloseItemRequest = Static<typeof CloseItemRequest>;
