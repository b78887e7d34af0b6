/** What identifies a row, in the order of its key's columns. */
type KeyOf<R> = (row: R) => readonly string[];

/** In an order that is the same in every process: whoever writes the same rows locks them one after the other. */
export function sorted<R>(rows: readonly R[], keyOf: KeyOf<R>): R[] {
  const keyed = rows.map((row) => ({ row, key: JSON.stringify(keyOf(row)) }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ row }) => row);
}

/** Sorted, and of rows with the same key only the last: one statement can replace a row only once. */
export function newest<R>(rows: readonly R[], keyOf: KeyOf<R>): R[] {
  return sorted([...new Map(rows.map((row) => [JSON.stringify(keyOf(row)), row])).values()], keyOf);
}
