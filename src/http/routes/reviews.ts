import { annotationView } from "../../engine/judgments/annotation-view.ts";
import { AppError } from "../../protocol/errors.ts";
import type { AnnotateRemarkRequest, ReviewAnalyticsQuery, ReviewListQuery } from "../../protocol/reviews/api.ts";
import type { REVIEW_OPERATIONS } from "../../protocol/reviews/operations.ts";
import { annotateRemark } from "../../reviews/server/annotate-remark.ts";
import { deleteReview } from "../../reviews/server/delete-review.ts";
import { countReviews, listReviews } from "../../reviews/server/list-reviews.ts";
import { showReview } from "../../reviews/server/show-review.ts";
import { callerOf, type Handler } from "../pipeline/handler.ts";
import { getReviewSessionRoute, type ReviewService, runReviewRoute } from "./afp.ts";

const listReviewsRoute: Handler = async (context) => {
  return { status: 200, json: await listReviews(context.host, callerOf(context), context.query as ReviewListQuery) };
};

const getReviewAnalyticsRoute: Handler = async (context) => {
  const query = context.query as ReviewAnalyticsQuery;
  return { status: 200, json: await countReviews(context.host, callerOf(context), query) };
};

const getReviewRoute: Handler = async (context) => {
  const { sessionId = "" } = context.params;
  return { status: 200, json: await showReview(context.host, callerOf(context), sessionId) };
};

const deleteReviewRoute: Handler = async (context) => {
  const { sessionId = "" } = context.params;
  return { status: 200, json: await deleteReview(context.host, callerOf(context), sessionId) };
};

const annotateRemarkRoute: Handler = async (context) => {
  const { host, params } = context;
  if (!host.capabilities.has("feedback")) throw new AppError("capability_not_provided", { capability: "feedback" });
  const { sessionId = "", remarkId = "" } = params;
  const request = context.body as AnnotateRemarkRequest;
  const { annotation, created } = await annotateRemark(host, {
    caller: callerOf(context),
    sessionId,
    remarkId,
    request,
  });
  return { status: created ? 201 : 200, json: { annotation: annotationView(annotation), created } };
};

export function reviewRoutes(service: ReviewService): Readonly<Record<keyof typeof REVIEW_OPERATIONS, Handler>> {
  return {
    runReview: runReviewRoute(service),
    getReviewSession: getReviewSessionRoute,
    listReviews: listReviewsRoute,
    getReviewAnalytics: getReviewAnalyticsRoute,
    getReview: getReviewRoute,
    deleteReview: deleteReviewRoute,
    annotateRemark: annotateRemarkRoute,
  };
}
