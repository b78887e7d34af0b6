/** The first of `count` places where this holds, or `count`; where it holds, it holds for all that follow. */
export function lowerBound(count: number, holds: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
