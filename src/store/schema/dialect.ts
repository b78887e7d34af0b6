import { type Kysely, PostgresAdapter } from "kysely";

export type DialectName = "sqlite" | "postgres";

/** Which database a handle or transaction speaks to, for the few statements that differ. */
export function dialectOf(db: Pick<Kysely<unknown>, "getExecutor">): DialectName {
  return db.getExecutor().adapter instanceof PostgresAdapter ? "postgres" : "sqlite";
}

/** How migrations write the types of columns in each database. */
export interface ColumnTypes {
  readonly text: string;
  readonly int: string;
  readonly bigint: string;
  readonly blob: string;
  readonly double: string;
  /** After the closing bracket of every table. */
  readonly strict: string;
  /** Instead of `strict` for a table of short rows that is only its primary key: one tree in SQLite, not two. */
  readonly clustered: string;
}

export const COLUMN_TYPES: Readonly<Record<DialectName, ColumnTypes>> = {
  // STRICT, because SQLite would otherwise store a text in an integer column without a word.
  sqlite: {
    text: "text",
    int: "integer",
    bigint: "integer",
    blob: "blob",
    double: "real",
    strict: " strict",
    clustered: " strict, without rowid",
  },
  // Byte order, whatever the database's locale: ids page the same way in both databases and an index can serve it.
  postgres: {
    text: `text collate "C"`,
    int: "integer",
    bigint: "bigint",
    blob: "bytea",
    double: "double precision",
    strict: "",
    clustered: "",
  },
};
