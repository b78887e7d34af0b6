import { setTimeout as sleep } from "node:timers/promises";

/**
 * Does something that takes a signal, for so long and no longer; what then holds is `tooSlow`. Rejects with the reason of the outer signal
 * when that is aborted.
 */
export async function withinTime<T>(
  timeoutMs: number,
  outer: AbortSignal,
  does: (signal: AbortSignal) => Promise<T>,
  tooSlow: () => T,
): Promise<T> {
  outer.throwIfAborted();
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), timeoutMs);
  try {
    return await does(AbortSignal.any([outer, over.signal]));
  } catch (error) {
    outer.throwIfAborted();
    if (over.signal.aborted) return tooSlow();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Sleeps. Rejects with the reason of the signal when it is aborted. */
export async function delay(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}
