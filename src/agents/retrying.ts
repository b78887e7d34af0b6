import { setTimeout as sleep } from "node:timers/promises";
import { type RetryWaits, retryWait } from "../engine/outbound/retry-wait.ts";

export interface RetrySettings extends RetryWaits {
  readonly attemptsMax: number;
}

export const RETRY_DEFAULTS: RetrySettings = { attemptsMax: 4, retryMs: 1_000, retryMaxMs: 30_000 };

/** Tests bring their own. */
export interface RetryWorld {
  readonly now: () => number;
  readonly chance: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export const RETRY_WORLD: RetryWorld = {
  now: Date.now,
  chance: Math.random,
  wait: (ms, signal) => sleep(ms, undefined, { signal }),
};

export type Attempt<T> =
  | { readonly done: T }
  /** `last` is what is returned when there is no further attempt. */
  | { readonly again: true; readonly retryAfter?: string | undefined; readonly last: T };

/** Attempts until one is done, with growing waits or those that are asked for. Rejects when the signal is aborted. */
export async function retrying<T>(
  settings: RetrySettings,
  world: RetryWorld,
  signal: AbortSignal,
  attempt: (count: number) => Promise<Attempt<T>>,
): Promise<T> {
  for (let count = 1; ; count++) {
    signal.throwIfAborted();
    const outcome = await attempt(count);
    if ("done" in outcome) return outcome.done;
    const { retryAfter, last } = outcome;
    const failed = { attempt: count, retryAfter, now: world.now(), chance: world.chance() };
    const waitMs = count < settings.attemptsMax ? retryWait(settings, failed) : undefined;
    if (waitMs === undefined) return last;
    await world.wait(waitMs, signal);
  }
}

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
