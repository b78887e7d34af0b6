import { INBOX_EVENTS } from "../../protocol/gates/inbox-api.ts";
import { OPERATIONS } from "../../protocol/operations.ts";
import { type JsonSchema, schemaOrReference } from "./named-schemas.ts";

/** The live inbox in the document of the event streams. */
export function inboxChannel(): JsonSchema {
  return {
    address: OPERATIONS.streamInbox.path,
    summary:
      "What waits for the caller's decision, and every change of that. Needs scope `approvals:respond` and ends with the " +
      "key. Frames have no id: a client that was away is told anew what is open.",
    messages: Object.fromEntries(
      Object.keys(INBOX_EVENTS).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
    ),
  };
}

export function inboxMessages(): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(INBOX_EVENTS).map(([name, { summary, data }]) => [
      name,
      { name, summary, payload: schemaOrReference(data) },
    ]),
  );
}
