import { type SentEvent, sendExternalEvent } from "../../engine/gates/external-events.ts";
import { EVENT_REPLAYED, type SendExternalEventRequest } from "../../protocol/gates/external-event-api.ts";
import { callerOf, type Handler, type Reply } from "../pipeline/handler.ts";

export const sendExternalEventRoute: Handler = async (context) => {
  const request = context.body as SendExternalEventRequest;
  const caller = callerOf(context);
  return sent(await sendExternalEvent(context.host, { caller, request, record: context.recorder(sent) }));
};

function sent({ answer: { status, body }, replayed }: SentEvent): Reply {
  return { status, json: body, ...(replayed ? { headers: { [EVENT_REPLAYED]: "true" } } : {}) };
}
