import type { AnyTable, Columns, RowOf, Table } from "../schema/table.ts";
import { insertInto, type SetStatement, type Statement, sorted, update } from "./statements.ts";

/** The statements that write rows of a table as they are after a batch. */
export interface TableWrites<R> {
  readonly table: AnyTable;
  readonly update: SetStatement<R>;
  readonly insert: SetStatement<R>;
}

export function writesOf<N extends string, C extends Columns>(table: Table<N, C>): TableWrites<RowOf<C>> {
  return { table, update: update(table), insert: insertInto(table) };
}

interface Current<R, H> {
  readonly row: H;
  /** Whether the database has such a row already. */
  readonly stored: boolean;
  /** All of it, once a unit has written the row. */
  readonly written?: R;
}

/**
 * Rows of one table as they are after the units that were accepted: found in the database, of which only some columns are read, then
 * changed in memory.
 */
export class RowSet<R extends H, H = R> {
  readonly #writes: TableWrites<R>;
  readonly #keyOf: (row: H) => string;
  readonly #rows = new Map<string, Current<R, H>>();

  /** `by` identifies a row where the primary key does not. */
  constructor(writes: TableWrites<R>, found: readonly H[], by?: (row: H) => readonly unknown[]) {
    this.#writes = writes;
    const { key } = writes.table;
    this.#keyOf = (row) => keyText(by?.(row) ?? key.map((column) => (row as Record<string, unknown>)[column]));
    for (const row of found) this.#rows.set(this.#keyOf(row), { row, stored: true });
  }

  get(...key: readonly unknown[]): H | undefined {
    return this.#rows.get(keyText(key))?.row;
  }

  put(row: R): void {
    const key = this.#keyOf(row);
    this.#rows.set(key, { row, stored: this.#rows.get(key)?.stored ?? false, written: row });
  }

  /** A row that is there and stays as it is. */
  found(row: H): void {
    const key = this.#keyOf(row);
    if (!this.#rows.has(key)) this.#rows.set(key, { row, stored: true });
  }

  /** Rows that a unit has written, and that the database has, or not. */
  written(stored: boolean): R[] {
    const those: R[] = [];
    for (const current of this.#rows.values()) {
      if (current.stored === stored && current.written !== undefined) those.push(current.written);
    }
    return those;
  }

  /** Updates, then inserts, in the order of the keys that are given. */
  statements(orderOf: (row: R) => readonly unknown[] = (row) => [this.#keyOf(row)]): Statement[] {
    const { update, insert } = this.#writes;
    return [...update(this.written(true)), ...insert(sorted(this.written(false), orderOf))];
  }
}

function keyText(key: readonly unknown[]): string {
  return key.length === 1 ? String(key[0]) : JSON.stringify(key);
}
