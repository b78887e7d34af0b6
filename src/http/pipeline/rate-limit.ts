import { AppError } from "../../protocol/errors.ts";

export type RateLimit = (keyId: string) => void;

interface Bucket {
  tokens: number;
  atMs: number;
}

const SWEEP_AT = 10_000;

/**
 * A token bucket per key, which holds the requests of one second. It protects this process and is no quota across processes. Throws
 * `rate_limited`.
 */
export function rateLimit(perSecond: number, nowMs: () => number): RateLimit | undefined {
  if (perSecond === 0) return undefined;
  const buckets = new Map<string, Bucket>();

  return (keyId) => {
    const atMs = nowMs();
    const bucket = buckets.get(keyId) ?? open(keyId, atMs);
    // A clock that was set back must not drain a bucket.
    const passedMs = Math.max(0, atMs - bucket.atMs);
    bucket.tokens = Math.min(perSecond, bucket.tokens + (passedMs * perSecond) / 1000);
    bucket.atMs = atMs;
    if (bucket.tokens < 1) {
      const retryAfterMs = Math.ceil(((1 - bucket.tokens) * 1000) / perSecond);
      throw new AppError("rate_limited", { retryAfterMs, scope: "key", limit: perSecond });
    }
    bucket.tokens--;
  };

  function open(keyId: string, atMs: number): Bucket {
    if (buckets.size >= SWEEP_AT) forgetFull(atMs);
    const bucket = { tokens: perSecond, atMs };
    buckets.set(keyId, bucket);
    return bucket;
  }

  /** A bucket that was not used for a second is full, which equals no bucket. */
  function forgetFull(atMs: number): void {
    for (const [keyId, bucket] of buckets) if (atMs - bucket.atMs >= 1000) buckets.delete(keyId);
  }
}
