import type { DialectName } from "./dialect-of.ts";

/** How migrations write the types of columns in each database. */
export interface ColumnTypes {
  readonly text: string;
  readonly int: string;
  readonly bigint: string;
  readonly blob: string;
  /** After the closing bracket of every table. */
  readonly strict: string;
}

export const COLUMN_TYPES: Readonly<Record<DialectName, ColumnTypes>> = {
  // STRICT, because SQLite would otherwise store a text in an integer column without a word.
  sqlite: { text: "text", int: "integer", bigint: "integer", blob: "blob", strict: " strict" },
  // Byte order, whatever the database's locale: ids page the same way in both databases and an index can serve it.
  postgres: { text: `text collate "C"`, int: "integer", bigint: "bigint", blob: "bytea", strict: "" },
};
