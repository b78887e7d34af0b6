import { gateSummary } from "../engine/gate-summary.ts";
import type { GateSummaryQuery } from "../protocol/inbox-api.ts";
import { callerOf, type Handler } from "./handler.ts";

export const gateSummaryRoute: Handler = async (context) => {
  const json = await gateSummary(context.host, callerOf(context), context.query as GateSummaryQuery);
  return { status: 200, json };
};
