import { type RowPage, rowPage } from "../port/large-rows.ts";

/** Bytes that are read at once of rows that may be large; one row is, however large. */
const BYTES_AT_ONCE = 2_000_000;

interface Sized {
  readonly bytes: number | null;
}

/** The last of the rows, in the order in which they are read, that fits beside those before it; undefined where there are none. */
export function lastFitting<T extends Sized>(sizes: readonly T[]): T | undefined {
  return sizes[countFitting(sizes) - 1];
}

/** How many of the first rows fit together; one does, however large it is. */
export function countFitting(sizes: readonly Sized[]): number {
  let left = BYTES_AT_ONCE;
  const end = sizes.findIndex(({ bytes }, index) => {
    left -= bytes ?? 0;
    return index > 0 && left < 0;
  });
  return end < 0 ? sizes.length : end;
}

/** The two reads of a list, in the same order: what its rows take, and the rows themselves. */
interface SizedList<T> {
  readonly sizes: () => Promise<readonly Sized[]>;
  readonly rows: (limit: number) => Promise<T[]>;
}

/** The first rows of a list: `limit`, or fewer and `cut` where they are large. */
export async function fittingPage<T>(limit: number, { sizes, rows }: SizedList<T>): Promise<RowPage<T>> {
  if (limit <= 1) return rows(limit);
  for (;;) {
    const found = await sizes();
    const fitting = countFitting(found);
    const cut = fitting < found.length;
    const page = await rows(cut ? fitting : limit);
    // All of them may have left the list in between, and others follow.
    if (page.length > 0 || !cut) return rowPage(page, cut);
  }
}
