import { prepared } from "./prepared.ts";
import type { Statement } from "./statements.ts";

/** A row that units depend on, as it stands after those that were accepted before. */
export interface Standing<R> {
  readonly row: R;
  /** Whether the database has such a row already. */
  readonly stored: boolean;
  readonly changed: boolean;
}

export function change<K, R>(rows: Map<K, Standing<R>>, key: K, row: R): void {
  rows.set(key, { row, stored: rows.get(key)?.stored ?? false, changed: true });
}

/** What a batch asks before it decides; not asked when it is about nothing. */
export interface Question {
  readonly name: string;
  readonly text: string;
  /** One array per parameter, all of the same length. */
  readonly values: readonly (readonly string[])[];
}

/**
 * A question that joins what it is given is planned each time. PostgreSQL would keep the plan it made while the table was
 * small, which reads all of it, until something has looked at how large it has become.
 */
export function toStatement({ name, text, values }: Question): Statement {
  return text.includes("unnest(") ? { text, values } : { ...prepared(name, text), values };
}

/** The answer to the question of that name. */
// biome-ignore lint/suspicious/noExplicitAny: a row is what the statement of that name selects.
export type RowsOf = (name: string) => any[];

export function transpose(columns: number, rows: ReadonlyMap<string, readonly string[]>): string[][] {
  return Array.from({ length: columns }, (_, column) => [...rows.values()].map((row) => row[column] ?? ""));
}

export function byKey<A, R>(
  rows: readonly A[],
  entryOf: (row: A) => readonly [key: string, row: R],
): Map<string, Standing<R>> {
  return new Map(
    rows.map((found) => {
      const [key, row] = entryOf(found);
      return [key, { row, stored: true, changed: false }];
    }),
  );
}
