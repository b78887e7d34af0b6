import { decideInbox } from "../engine/decide-inbox.ts";
import { readFlagged } from "../engine/flagged-runs.ts";
import { readInbox } from "../engine/inbox.ts";
import type { DecideRequest, InboxQuery } from "../protocol/inbox-api.ts";
import type { HttpDeps } from "./deps.ts";
import { callerOf, type Handler } from "./handler.ts";

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
