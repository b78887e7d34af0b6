/** The speed of the clock while the wall clock is behind it: slow enough to be overtaken, fast enough for timers. */
const CATCH_UP_RATE = 0.9;

/**
 * The time of the host: the wall clock, except that it never goes back. A wall clock that is set forward is followed at once.
 * When it is set back, time goes on from where it was, a tenth slower until the wall clock has caught up: runs that sleep,
 * leases and deadlines end about when they should have, and what has expired stays expired.
 */
export function steadyClock(wallMs: () => number, elapsedMs: () => number): () => number {
  let lastMs = wallMs();
  let lastElapsed = elapsedMs();
  return () => {
    const elapsed = elapsedMs();
    const ownMs = lastMs + Math.max(0, elapsed - lastElapsed) * CATCH_UP_RATE;
    lastMs = Math.max(wallMs(), ownMs);
    lastElapsed = elapsed;
    return Math.floor(lastMs);
  };
}
