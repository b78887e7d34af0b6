import type { IdempotencyOutcome, IdempotencyRecord } from "../../store/port/store.ts";

interface OnceOnly {
  readonly tenant: string;
  /** No name of a routed operation, so that it does not conflict with keys of requests. */
  readonly what: string;
  readonly subject: string;
  readonly nowMs: number;
  readonly forMs: number;
}

/** An outcome that lets its unit be committed once in that time, by any process: a second one is refused. */
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

/** Thrown where a commit finds an outcome under its idempotency key, which is then replayed to the client. */
export class RecordedOutcome extends Error {
  readonly record: IdempotencyRecord;

  constructor(record: IdempotencyRecord) {
    super("an outcome is recorded under this idempotency key already");
    this.record = record;
  }
}

const SUBJECTS_MAX = 10_000;

/** True at the first call for a subject, then at most once per interval. The number of subjects is limited; beyond it all are forgotten. */
export function atMostEvery(intervalMs: number): (subject: string, nowMs: number) => boolean {
  const passedAtMs = new Map<string, number>();
  return (subject, nowMs) => {
    const last = passedAtMs.get(subject);
    if (last !== undefined && nowMs >= last && nowMs - last < intervalMs) return false;
    if (passedAtMs.size >= SUBJECTS_MAX) passedAtMs.clear();
    passedAtMs.set(subject, nowMs);
    return true;
  };
}
