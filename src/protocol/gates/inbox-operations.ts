import { BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
import { Type } from "../schema.ts";
import {
  DecideRequest,
  DecideResponse,
  GateSummaryQuery,
  GateSummaryResponse,
  INBOX_EVENTS,
  INBOX_FILTERS,
  InboxQuery,
  InboxResponse,
} from "./inbox-api.ts";

/** The open gates that the caller may decide, and statistics of gates. */
export const INBOX_OPERATIONS = {
  listInbox: {
    method: "GET",
    path: "/v1/host/assay/inbox",
    tag: "interrupts",
    summary: "What waits for a decision that this caller may make now, oldest first; with flagged=true open flags too.",
    access: "approvals:respond",
    query: InboxQuery,
    success: { status: 200, schema: InboxResponse },
    errors: [...PROTECTED, "validation_error", "capability_not_provided"],
  },
  decideInbox: {
    method: "POST",
    path: "/v1/host/assay/inbox:decide",
    tag: "interrupts",
    summary: "Answer up to 100 interrupts; one result each, in order, whatever comes of the others.",
    access: "approvals:respond",
    body: DecideRequest,
    idempotent: "many",
    success: { status: 200, schema: DecideResponse },
    errors: [...PROTECTED, ...KEYED, ...BODY],
  },
  streamInbox: {
    method: "GET",
    path: "/v1/host/assay/inbox/events",
    tag: "events",
    summary: "Follow the inbox as server-sent events: what is open, then every change. Ends with the key only.",
    access: "approvals:respond",
    query: Type.Object(INBOX_FILTERS, { additionalProperties: false }),
    success: { status: 200, contentType: "text/event-stream", frames: INBOX_EVENTS },
    errors: [...PROTECTED, "validation_error"],
  },
  getGateSummary: {
    method: "GET",
    path: "/v1/host/assay/gates/summary",
    tag: "interrupts",
    summary: "Statistics of gates: how many were decided, by whom, how fast, and how many ran out of time.",
    access: "runs:read",
    query: GateSummaryQuery,
    success: { status: 200, schema: GateSummaryResponse },
    errors: [...PROTECTED, "validation_error"],
  },
} as const satisfies Record<string, Operation>;
