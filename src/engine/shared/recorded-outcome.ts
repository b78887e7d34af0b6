import type { IdempotencyRecord } from "../../store/port/store.ts";

/** Thrown when a commit met an outcome that already stands under its idempotency key; the edge replays it. */
export class RecordedOutcome extends Error {
  readonly record: IdempotencyRecord;

  constructor(record: IdempotencyRecord) {
    super("an outcome already stands under this idempotency key");
    this.record = record;
  }
}
