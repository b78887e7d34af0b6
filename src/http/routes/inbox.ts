import { decideInbox, readInbox } from "../../engine/gates/inbox.ts";
import { readFlagged } from "../../engine/judgments/flagged-runs.ts";
import type { DecideRequest, InboxQuery } from "../../protocol/gates/inbox-api.ts";
import type { HttpDeps } from "../pipeline/deps.ts";
import { callerOf, type Handler } from "../pipeline/handler.ts";

/** Whoever may decide gates need not be one who may read judgments. */
export function listInboxRoute(authorizer: Pick<HttpDeps["authorizer"], "authorize">): Handler {
  return async (context) => {
    const { host } = context;
    const caller = callerOf(context);
    const { flagged, flaggedCursor, ...query } = context.query as InboxQuery;
    if (flagged !== "true") return { status: 200, json: await readInbox(host, caller, query) };
    await authorizer.authorize(caller, "runs:read");
    const flags = { ...query, ...(flaggedCursor === undefined ? {} : { flaggedCursor }) };
    const [gates, runs] = await Promise.all([readInbox(host, caller, query), readFlagged(host, caller, flags)]);
    return { status: 200, json: { ...gates, ...runs } };
  };
}

export const decideInboxRoute: Handler = async (context) => {
  const json = await decideInbox(context.host, callerOf(context), context.body as DecideRequest);
  return { status: 200, json };
};
