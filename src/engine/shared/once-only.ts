import type { IdempotencyOutcome } from "../../store/port/store.ts";

interface OnceOnly {
  readonly tenant: string;
  /** Not the name of a routed operation, so that no request's key can meet it. */
  readonly what: string;
  readonly subject: string;
  readonly nowMs: number;
  readonly forMs: number;
}

/** Makes the unit that carries it happen once in that time, whichever process commits it: a second one is refused. */
export function onceOnly({ tenant, what, subject, nowMs, forMs }: OnceOnly): IdempotencyOutcome {
  return {
    tenant,
    operation: what,
    key: subject,
    digest: "",
    state: "completed",
    response: { status: 204, headers: {}, body: "" },
    nowMs,
    expiresAtMs: nowMs + forMs,
  };
}
