import type { AuditBacklog } from "../../store/port/store.ts";

interface Waiting {
  readonly seq: number;
  readonly sinceMs: number;
}

/** Since when entries wait for a checkpoint, by the clock of this process: the database can be told other times by hand. */
export class UnsignedSince {
  readonly #waiting = new Map<string, Waiting>();

  /** To be asked whenever a tenant is seen with entries behind its last checkpoint. */
  sinceMs({ tenant, headSeq, checkpointSeq }: AuditBacklog, nowMs: number): number {
    const known = this.#waiting.get(tenant);
    if (known !== undefined && known.seq > checkpointSeq) return known.sinceMs;
    this.#waiting.set(tenant, { seq: headSeq, sinceMs: nowMs });
    return nowMs;
  }
}
