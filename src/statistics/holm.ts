/**
 * Holm's step-down: p-values of several tests in one decision, each raised so that the chance of any false alarm stays what was
 * asked for. In the order given; a test without a p-value is not one of the several.
 */
export function holm(pValues: readonly (number | null)[]): (number | null)[] {
  const tests = pValues.flatMap((p, at) => (p === null ? [] : [{ p, at }])).sort((a, b) => a.p - b.p);
  const adjusted: (number | null)[] = pValues.map(() => null);
  let least = 0;
  tests.forEach(({ p, at }, rank) => {
    least = Math.max(least, Math.min(1, (tests.length - rank) * p));
    adjusted[at] = least;
  });
  return adjusted;
}
