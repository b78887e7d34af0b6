/**
 * Pairs of letters that are compared for one name, which takes milliseconds. Both sides may come from requests: a thousand names of 256
 * letters would take seconds, and a suggestion is not worth that.
 */
const COMPARED = 200_000;

/** The name that was probably meant, or undefined when none is near: at most a third of it may differ. */
export function closestTo(given: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(given.length / 3)) + 1;
  let left = COMPARED;
  for (const name of names) {
    // The distance is at least the difference in length. Names in requests may be long, and this is cheap.
    if (Math.abs(given.length - name.length) >= bestDistance) continue;
    left -= given.length * name.length;
    if (left < 0) break;
    const distance = editDistance(given.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Damerau–Levenshtein, so that two swapped letters count as one slip. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, at(i - 2, j - 2) + 1);
      rows[i]?.push(cost);
    }
  }
  return at(a.length, b.length);
}
