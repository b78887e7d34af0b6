import { BODY, KEYED, type Operation, PROTECTED } from "../operation.ts";
import { ExternalEventDelivered, ExternalEventHeld, SendExternalEventRequest } from "./external-event-api.ts";

export const EXTERNAL_EVENT_OPERATIONS = {
  sendExternalEvent: {
    method: "POST",
    path: "/v1/host/assay/external-events",
    tag: "interrupts",
    summary: "Hand an event to every run that waits for it, or keep it for the first that will.",
    access: "approvals:respond",
    body: SendExternalEventRequest,
    idempotent: "one",
    success: { status: 200, schema: ExternalEventDelivered },
    otherwise: { status: 202, schema: ExternalEventHeld, summary: "No run waits for it yet; it is held." },
    errors: [
      ...PROTECTED,
      ...KEYED,
      ...BODY,
      "interrupt_not_found",
      "interrupt_already_resolved",
      "interrupt_expired",
      "interrupt_gone",
      "interrupt_cancelled",
      "correlation_mismatch",
      "run_version_conflict",
      "engine_version_mismatch",
    ],
  },
} as const satisfies Record<string, Operation>;
