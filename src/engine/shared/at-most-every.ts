const SUBJECTS_MAX = 10_000;

/**
 * True the first time something is asked about, then at most once per interval. Remembers a bounded number of
 * subjects; past that it forgets all of them, and each may pass once more.
 */
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
