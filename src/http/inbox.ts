import { decideInbox } from "../engine/decide-inbox.ts";
import { readInbox } from "../engine/inbox.ts";
import type { DecideRequest, InboxQuery } from "../protocol/inbox-api.ts";
import { callerOf, type Handler } from "./handler.ts";

export const listInboxRoute: Handler = async (context) => {
  const json = await readInbox(context.host, callerOf(context), context.query as InboxQuery);
  return { status: 200, json };
};

export const decideInboxRoute: Handler = async (context) => {
  const json = await decideInbox(context.host, callerOf(context), context.body as DecideRequest);
  return { status: 200, json };
};
