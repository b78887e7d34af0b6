export interface RetryWaits {
  /** Before the second attempt; each further wait is twice as long. */
  readonly retryMs: number;
  /** The longest wait; a server that asks for a longer one is not called again. */
  readonly retryMaxMs: number;
}

interface FailedAttempt {
  /** 1 is the first. */
  readonly attempt: number;
  /** The `retry-after` header: seconds, or a date. */
  readonly retryAfter?: string | undefined;
  readonly now: number;
  /** From 0 up to 1: callers that failed together must not retry together. */
  readonly chance: number;
}

/** The wait before the next attempt; undefined where there should be none. */
export function retryWait({ retryMs, retryMaxMs }: RetryWaits, failed: FailedAttempt): number | undefined {
  const asked = failed.retryAfter === undefined ? undefined : retryAfterMs(failed.retryAfter, failed.now);
  if (asked !== undefined && asked > retryMaxMs) return undefined;
  const own = Math.min(retryMs * 2 ** (failed.attempt - 1) * (1 + failed.chance / 4), retryMaxMs);
  return Math.max(own, asked ?? 0);
}

/** The wait that a `retry-after` header asks for: seconds, or a date. */
export function retryAfterMs(header: string, now: number): number | undefined {
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
