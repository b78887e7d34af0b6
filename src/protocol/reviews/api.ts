import { AnnotationView } from "../judgments/annotation-api.ts";
import {
  Count,
  Cursor,
  closed,
  Id,
  Instant,
  Limit,
  nullable,
  Positive,
  pageOf,
  ShortName,
  type Static,
  Type,
} from "../schema.ts";

/** Names that the ShortName Feedback Protocol gave are kept as it writes them. */

const Rate = nullable(Type.Number());
const Status = Type.Enum(["accepted", "rejected", "partial"]);

export const AFP_BASE = "/v1/host/assay/afp";

export const RunReviewQuery = Type.Object(
  {
    agent: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: "who is to review; qualitative-reviewer by default" }),
    ),
    session: Type.Optional(Type.String({ description: "the session to go on with; a new one when left out" })),
    continue: Type.Optional(
      Type.Enum(["true", "false"], {
        description: "go on with the session of this principal that was used last; a new one when there is none",
      }),
    ),
    fork: Type.Optional(
      Type.Enum(["true", "false"], { description: "go on in a copy of the session, under a new id" }),
    ),
  },
  closed,
);
export type RunReviewQuery = Static<typeof RunReviewQuery>;

const FIGURES = {
  issued: Count,
  decided: Count,
  accepted: Count,
  partial: Count,
  rejected: Count,
  acceptance_rate: Rate,
  weighted_rate: Rate,
  coverage: Rate,
  reraised: Type.Integer({ minimum: 0, description: "made again after they had been accepted" }),
  oscillating: Type.Integer({ minimum: 0, description: "left out of an answer and back in a later one" }),
};

const ConversationFigures = Type.Object(
  {
    total: Count,
    open: Count,
    converged: Count,
    stopped: Count,
    failed: Count,
    rounds_to_convergence: Type.Object({ mean: Rate, max: Rate }, closed),
    oscillated: Type.Integer({ minimum: 0, description: "whose artifact came back to what it had been" }),
  },
  closed,
);

export const ReviewAnalyticsView = Type.Object(
  {
    conversations: ConversationFigures,
    ...FIGURES,
    acknowledgements: Count,
    unknown_rate: Rate,
    by_reviewer: Type.Array(
      Type.Object({ reviewer: Type.String(), ...FIGURES, conversations: ConversationFigures }, closed),
    ),
    by_aspect: Type.Array(Type.Object({ aspect: Type.String(), ...FIGURES }, closed)),
    by_iteration: Type.Array(
      Type.Object(
        {
          iteration: Positive,
          issued: Count,
          decided: Count,
          accepted: Count,
          partial: Count,
          rejected: Count,
          acceptance_rate: Rate,
          weighted_rate: Rate,
        },
        closed,
      ),
    ),
    by_reason: Type.Array(Type.Object({ reason_code: Type.String(), rejected: Count, reraised: Count }, closed)),
  },
  closed,
);
export type ReviewAnalyticsView = Static<typeof ReviewAnalyticsView>;

const DECISION = {
  status: Status,
  reason_code: Type.Optional(Type.String()),
  explanation: Type.Optional(Type.String()),
};

/** A provider's report of a session. */
export const ReviewSessionState = Type.Object(
  {
    sessionID: Type.String(),
    iterations: Type.Array(Positive, { description: "answered ones of the present conversation" }),
    issued: Type.Array(
      Type.Object({ id: Type.String(), aspect: Type.String(), iterations: Type.Array(Positive) }, closed),
    ),
    decisions: Type.Array(
      Type.Object(
        {
          iteration: Positive,
          id: Type.String(),
          ...DECISION,
          processing_status: Type.Enum(["acknowledged", "unknown_id"]),
        },
        closed,
      ),
    ),
    analytics: ReviewAnalyticsView,
  },
  closed,
);
export type ReviewSessionState = Static<typeof ReviewSessionState>;

const INFO = {
  sessionId: Type.String(),
  workspace: Type.Optional(Type.String()),
  agent: Type.String({ description: "who reviewed last" }),
  createdBy: Type.String(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
  rounds: Count,
};
export const ReviewInfo = Type.Object(INFO, closed);
export type ReviewInfo = Static<typeof ReviewInfo>;

const FILTERS = {
  agent: Type.Optional(ShortName),
  from: Type.Optional(Type.String({ ...Instant, description: "an instant, inclusive; when the session began" })),
  to: Type.Optional(Type.String({ ...Instant, description: "an instant, exclusive" })),
};

export const ReviewListQuery = Type.Object(
  {
    ...FILTERS,
    limit: Limit,
    cursor: Cursor,
  },
  closed,
);
export type ReviewListQuery = Static<typeof ReviewListQuery>;

export const ReviewPage = pageOf("reviews", ReviewInfo);
export type ReviewPage = Static<typeof ReviewPage>;

const Remark = {
  id: Type.String(),
  aspect: Type.String(),
  description: Type.String(),
  recommendation: Type.String(),
};

export const ReviewRoundView = Type.Object(
  {
    n: Positive,
    conversation: Type.Integer({ minimum: 1, description: "counts the times the session began with iteration 1" }),
    iteration: Positive,
    outcome: Type.Enum(["success", "error"], { description: "error: decisions were taken, nothing was reviewed" }),
    agent: Type.String(),
    by: Type.String(),
    at: Type.String(),
    artifact: Type.Optional(
      Type.Object(
        {
          media_type: Type.String(),
          artifact_ref: Type.Optional(Type.String()),
          digest: Type.String(),
          runId: Type.Optional(Type.String()),
        },
        closed,
      ),
    ),
    confidence: Type.Optional(Type.Object({ level: Type.String(), justification: Type.String() }, closed)),
    general_summary: Type.Optional(Type.String()),
    positive_points: Type.Optional(
      Type.Array(Type.Object({ aspect: Type.String(), justification: Type.String() }, closed)),
    ),
    remarks: Type.Array(Type.Object({ ...Remark, reopened: Type.Optional(Type.Literal(true)) }, closed)),
    decisions: Type.Array(
      Type.Object(
        { id: Type.String(), ...DECISION, processing_status: Type.Enum(["acknowledged", "unknown_id"]) },
        closed,
      ),
    ),
  },
  closed,
);
export type ReviewRoundView = Static<typeof ReviewRoundView>;

export const ReviewItemView = Type.Object(
  {
    ...Remark,
    conversation: Positive,
    iterations: Type.Array(Positive),
    reopened: Type.Boolean({ description: "accepted before, and raised again when it was last raised" }),
    status: Type.Optional(Type.Enum(["accepted", "rejected", "partial"], { description: "as last decided" })),
    runId: Type.Optional(Type.String({ description: "the run that the artifact came from" })),
    decisions: Type.Array(
      Type.Object({ iteration: Positive, ...DECISION, by: Type.String(), at: Type.String() }, closed),
    ),
  },
  closed,
);
export type ReviewItemView = Static<typeof ReviewItemView>;

export const ReviewDetails = Type.Object(
  {
    ...INFO,
    history: Type.Array(ReviewRoundView),
    items: Type.Array(ReviewItemView),
    analytics: ReviewAnalyticsView,
  },
  closed,
);
export type ReviewDetails = Static<typeof ReviewDetails>;

export const ReviewAnalyticsQuery = Type.Object(FILTERS, closed);
export type ReviewAnalyticsQuery = Static<typeof ReviewAnalyticsQuery>;

export const ReviewAnalyticsResponse = Type.Object(
  {
    sessions: Type.Integer({ minimum: 0, description: "how many were looked at, newest first" }),
    complete: Type.Boolean({ description: "false when there are more sessions than are looked at in one go" }),
    analytics: ReviewAnalyticsView,
  },
  closed,
);
export type ReviewAnalyticsResponse = Static<typeof ReviewAnalyticsResponse>;

export const AnnotateRemarkRequest = Type.Object(
  {
    runId: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description: "default: the run that the artifact names as x-run-id",
      }),
    ),
    eventId: Type.Optional(Id),
    nodeId: Type.Optional(Id),
  },
  closed,
);
export type AnnotateRemarkRequest = Static<typeof AnnotateRemarkRequest>;

export const AnnotateRemarkResponse = Type.Object(
  {
    annotation: AnnotationView,
    created: Type.Boolean({ description: "false when the same decision was recorded on the run before" }),
  },
  closed,
);
export type AnnotateRemarkResponse = Static<typeof AnnotateRemarkResponse>;

export const DeleteReviewResponse = Type.Object({ sessionId: Type.String(), rounds: Count }, closed);
export type DeleteReviewResponse = Static<typeof DeleteReviewResponse>;
