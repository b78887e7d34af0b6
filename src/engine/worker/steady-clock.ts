/** The speed of the clock while the wall clock is behind it: slow enough to be overtaken, fast enough for timers. */
const CATCH_UP_RATE = 0.9;

/**
 * How far a host that starts goes ahead of its wall clock to be no earlier than what is recorded. Clocks are set back by less, time zones that
 * were mixed up included. More means that the clock of the host before was wrong: then it is the records that are corrected.
 */
export const AHEAD_MAX_MS = 24 * 3_600_000;

export interface SteadyClock {
  (): number;
  /** Goes ahead to this time, unless it is past already or more than a day ahead of the wall clock. */
  notBefore(recordedMs: number): void;
}

/**
 * The time of the host: the wall clock, except that it never goes back. A wall clock that is set forward is followed at once.
 * When it is set back, time goes on from where it was, a tenth slower until the wall clock has caught up: runs that sleep,
 * leases and deadlines end about when they should have, and what has expired stays expired.
 */
export function steadyClock(wallMs: () => number, elapsedMs: () => number): SteadyClock {
  let lastMs = wallMs();
  let lastElapsed = elapsedMs();
  const now = (): number => {
    const elapsed = elapsedMs();
    const ownMs = lastMs + Math.max(0, elapsed - lastElapsed) * CATCH_UP_RATE;
    lastMs = Math.max(wallMs(), ownMs);
    lastElapsed = elapsed;
    return Math.floor(lastMs);
  };
  const notBefore = (recordedMs: number): void => {
    if (recordedMs > now() && recordedMs - wallMs() <= AHEAD_MAX_MS) lastMs = recordedMs;
  };
  return Object.assign(now, { notBefore });
}
