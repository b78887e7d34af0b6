/** A state of more bytes is read on its own, after the reader has made room. */
export const LARGE_STATE_BYTES = 1_048_576;

/** Events of more bytes are left out of the first read of a page and counted before they are read. */
export const LARGE_EVENT_BYTES = 32_768;
export const EVENT_PAGE_BYTES = 16_777_216;

interface Sized {
  readonly sequence: number;
  readonly bytes: number;
}

/** Rows up to a limit; fewer, and `cut`, where they ended for their size and not because there are no more. */
export interface RowPage<T> extends ReadonlyArray<T> {
  readonly cut?: true;
}

export function rowPage<T>(rows: T[], cut: boolean): RowPage<T> {
  return cut ? Object.assign(rows, { cut: true as const }) : rows;
}

/** Whether nothing follows a page that was asked for with this limit. */
export function isLastPage(page: RowPage<unknown>, limit: number): boolean {
  return page.length < limit && page.cut !== true;
}

/** The beginning of a page that is not larger than a page may be; at least one event, however large it is. */
export function fittingEvents<T extends Sized>(rows: readonly T[]): readonly T[] {
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += row.bytes;
    return index > 0 && bytes > EVENT_PAGE_BYTES;
  });
  return end < 0 ? rows : rows.slice(0, end);
}
