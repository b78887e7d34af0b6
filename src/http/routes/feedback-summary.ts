import { feedbackSummary } from "../../engine/judgments/feedback-summary.ts";
import type { FeedbackSummaryQuery } from "../../protocol/judgments/feedback-api.ts";
import { callerOf, type Handler } from "../pipeline/handler.ts";
import { jsonPages, pagesOf, sendList } from "../pipeline/send-list.ts";

export const feedbackSummaryRoute: Handler = async (context) => {
  const summary = await feedbackSummary(context.host, callerOf(context), context.query as FeedbackSummaryQuery);
  const before = `{"total":${JSON.stringify(summary.total)},"groups":[`;
  return sendList(context, { before, items: jsonPages(pagesOf(summary.groups, 1)), after: "]}" });
};
