import type { InboxFilter } from "../../protocol/gates/inbox-api.ts";
import { callerOf, type Handler, replyOf } from "../pipeline/handler.ts";
import type { InboxFeeds } from "./inbox-feeds.ts";

/** `GET /v1/host/assay/inbox/events`: what is open for the caller, and then whatever changes. */
export function streamInbox(feeds: InboxFeeds): Handler {
  return (context) => {
    const caller = callerOf(context);
    feeds.checkRoom(caller.tenant);
    const reply = replyOf(context);
    reply.hijack();
    feeds.open({ caller, filter: context.query as InboxFilter, response: reply.raw });
    return "hijacked";
  };
}
