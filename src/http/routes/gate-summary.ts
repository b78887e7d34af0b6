import { gateSummary } from "../../engine/gates/gate-summary.ts";
import type { GateSummaryQuery } from "../../protocol/gates/inbox-api.ts";
import { callerOf, type Handler } from "../pipeline/handler.ts";
import { jsonPages, pagesOf, sendList } from "../pipeline/send-list.ts";

export const gateSummaryRoute: Handler = async (context) => {
  const { total, groups } = await gateSummary(context.host, callerOf(context), context.query as GateSummaryQuery);
  const before = `{"total":${JSON.stringify(total)},"groups":[`;
  return sendList(context, { before, items: jsonPages(pagesOf(groups)), after: "]}" });
};
