import { setTimeout as sleep } from "node:timers/promises";

/** A request counts for so long after it arrived. */
const RECENT_MS = 250;
/** The rest after a step, as a multiple of the time that the step took. */
const REST = 4;
const REST_MAX_MS = 100;

interface Request {
  readonly tenant: string;
  readonly atMs: number;
}

/**
 * The pace of a backlog in a process that answers requests. A step of the backlog delays each request that arrives during it. While
 * tenants other than the one with the backlog send requests, the worker rests after each step, so that the backlog takes about a
 * fifth of the time and most requests meet no step. Without such requests there is no rest, and the backlog has the whole process.
 */
export class Pace {
  readonly #nowMs: () => number;
  /** The last request, and the last one of another tenant than that. */
  #last: Request | undefined;
  #other: Request | undefined;

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  noteRequest(tenant: string): void {
    if (this.#last !== undefined && this.#last.tenant !== tenant) this.#other = this.#last;
    this.#last = { tenant, atMs: this.#nowMs() };
  }

  /** The rest after a step that took `tookMs` and executed runs of `tenants`. */
  restMs(tenants: ReadonlySet<string>, tookMs: number): number {
    const [only] = tenants.size === 1 ? tenants : [];
    const others = [this.#last, this.#other].filter((request) => request !== undefined && request.tenant !== only);
    const sinceMs = this.#nowMs() - RECENT_MS;
    if (!others.some((request) => request !== undefined && request.atMs > sinceMs)) return 0;
    return Math.min(REST_MAX_MS, REST * tookMs);
  }

  async rest(tenants: ReadonlySet<string>, tookMs: number): Promise<void> {
    const restMs = this.restMs(tenants, tookMs);
    if (restMs >= 1) await sleep(restMs);
  }
}
