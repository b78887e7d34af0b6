import { feedbackSummary } from "../engine/feedback-summary.ts";
import type { FeedbackSummaryQuery } from "../protocol/feedback-api.ts";
import { callerOf, type Handler } from "./handler.ts";

export const feedbackSummaryRoute: Handler = async (context) => {
  const json = await feedbackSummary(context.host, callerOf(context), context.query as FeedbackSummaryQuery);
  return { status: 200, json };
};
