import { operations } from "../operation.ts";
import { AfpMessage, AfpRequest } from "./afp.ts";
import {
  AFP_BASE,
  AnnotateRemarkRequest,
  AnnotateRemarkResponse,
  DeleteReviewResponse,
  ReviewAnalyticsQuery,
  ReviewAnalyticsResponse,
  ReviewDetails,
  ReviewListQuery,
  ReviewPage,
  ReviewSessionState,
  RunReviewQuery,
} from "./api.ts";

const REVIEWS = "/v1/host/assay/reviews";

const common = { tag: "reviews", capability: "reviews" } as const;

/** Peer reviews between agents: the provider of the Agent Feedback Protocol, and its sessions. */
export const REVIEW_OPERATIONS = operations(common, {
  runReview: {
    method: "POST",
    path: `${AFP_BASE}/run`,
    summary:
      "One turn of a review: the body is a request of the Agent Feedback Protocol 1.2, the answer its three lines.",
    about:
      "The content type of the body is not looked at. A request that breaks the protocol is answered within it: status 200, and a response " +
      "with `status` `error` in the second line. An error below the protocol is an ErrorEnvelope whose `details.name` is `EmptyInput` (400), " +
      "`SessionNotFound` or `NotFound` (404), `SessionBusy` (409) or `TooLarge` (413). The same request sent again in its session gets the same response.",
    access: "reviews:request",
    query: RunReviewQuery,
    takesReview: true,
    bytesOf: AfpRequest,
    success: { status: 200, contentType: "application/x-ndjson", line: AfpMessage },
    errors: ["review_session_busy"],
  },
  getReviewSession: {
    method: "GET",
    path: `${AFP_BASE}/sessions/{sessionId}`,
    summary: "The provider's state of a session: iterations, issued ids, decisions, figures.",
    access: "reviews:read",
    success: { status: 200, schema: ReviewSessionState },
  },
  listReviews: {
    method: "GET",
    path: REVIEWS,
    summary: "Review sessions this key can see; the one that began last is first.",
    access: "reviews:read",
    query: ReviewListQuery,
    success: { status: 200, schema: ReviewPage },
  },
  getReviewAnalytics: {
    method: "GET",
    path: `${REVIEWS}/analytics`,
    summary:
      "What becomes of remarks: acceptance, coverage, rounds to convergence, by reviewer, aspect, turn and reason.",
    access: "reviews:read",
    query: ReviewAnalyticsQuery,
    success: { status: 200, schema: ReviewAnalyticsResponse },
  },
  getReview: {
    method: "GET",
    path: `${REVIEWS}/{sessionId}`,
    summary: "A review session: its rounds, its remarks with what was decided on them, and figures.",
    access: "reviews:read",
    success: { status: 200, schema: ReviewDetails },
  },
  deleteReview: {
    method: "DELETE",
    path: `${REVIEWS}/{sessionId}`,
    summary: "Remove a review session and its rounds for good. Annotations that were made of its remarks stay.",
    access: "reviews:delete",
    success: { status: 200, schema: DeleteReviewResponse },
  },
  annotateRemark: {
    method: "POST",
    path: `${REVIEWS}/{sessionId}/items/{remarkId}:annotate`,
    summary:
      "Record a remark that was decided on as an annotation of the run its artifact came from. Repeated requests record it once.",
    access: "runs:annotate",
    alsoNeeds: "reviews:read",
    body: AnnotateRemarkRequest,
    success: { status: 201, schema: AnnotateRemarkResponse },
    otherwise: { status: 200, schema: AnnotateRemarkResponse, summary: "It was recorded before." },
    errors: ["engine_version_mismatch", "annotation_conflict", "review_item_undecided", "capability_not_provided"],
  },
});
