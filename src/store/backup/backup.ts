import { createHash } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { KNOWN_VERSION } from "../schema/migrations.ts";
import { COPIED_TABLES, type CopiedTable, TABLES, type Tables } from "../schema/tables.ts";

/** Raised when the lines below change their meaning. */
export const BACKUP_FORMAT = 1;

/** A row as the database gives it: texts, numbers, bytes and nothing. */
export type StoredRow = Readonly<Record<string, string | number | Uint8Array | null>>;

/** The first line. */
export interface BackupHeader {
  readonly assayBackup: number;
  readonly schemaVersion: number;
  readonly createdAt: string;
  readonly tables: readonly CopiedTable[];
}

/** One line for each row. Bytes are `{ "base64": … }`; everything else is as it is. */
export interface BackupRow {
  readonly table: CopiedTable;
  readonly row: Readonly<Record<string, string | number | null | { readonly base64: string }>>;
}

/** The last line: a file that does not end in it is not whole. */
export interface BackupTrailer {
  readonly rows: Readonly<Record<string, number>>;
  /** Of every byte before this line. */
  readonly sha256: string;
}

/**
 * Everything in the database as lines of JSON, newline included. The caller sees to it that `db` stays at one moment:
 * a read transaction. Rows are read in pages by primary key, so memory does not grow with the database.
 */
export async function* backupLines(db: Kysely<Tables>, createdAt: string): AsyncGenerator<string, BackupTrailer> {
  const hash = createHash("sha256");
  const counts: Record<string, number> = {};
  const line = (value: BackupHeader | BackupRow): string => {
    const text = `${JSON.stringify(value)}\n`;
    hash.update(text);
    return text;
  };

  yield line({ assayBackup: BACKUP_FORMAT, schemaVersion: KNOWN_VERSION, createdAt, tables: COPIED_TABLES });
  for (const table of COPIED_TABLES) {
    counts[table] = 0;
    for await (const row of readTable(db, table)) {
      counts[table] += 1;
      yield line({ table, row: encode(row) });
    }
  }
  const trailer: BackupTrailer = { rows: counts, sha256: hash.digest("hex") };
  yield `${JSON.stringify(trailer)}\n`;
  return trailer;
}

const PAGE_BYTES = 1_048_576;
const FIRST_PAGE_ROWS = 16;
const PAGE_ROWS_MAX = 1000;

/** Pages of about as many bytes, because a row may be an audit entry or an artifact of some megabytes. */
async function* readTable(db: Kysely<Tables>, table: CopiedTable): AsyncGenerator<StoredRow> {
  const columns = TABLES[table].key;
  const key = sql.join(columns.map((column) => sql.ref(column)));
  let limit = FIRST_PAGE_ROWS;
  let last: StoredRow | undefined;
  for (;;) {
    const after = last && sql.join(columns.map((column) => sql.val(last?.[column])));
    const from = after ? sql`where (${key}) > (${after})` : sql``;
    const page = sql<StoredRow>`select * from ${sql.table(table)} ${from} order by ${key} limit ${limit}`;
    const { rows } = await page.execute(db);
    yield* rows;
    last = rows.at(-1);
    if (rows.length < limit || last === undefined) return;
    const bytesPerRow = rows.reduce((sum, row) => sum + sizeOf(row), 0) / rows.length;
    limit = Math.max(1, Math.min(PAGE_ROWS_MAX, Math.floor(PAGE_BYTES / bytesPerRow)));
  }
}

/** About: what matters is the difference between a hundred bytes and a million. */
function sizeOf(row: StoredRow): number {
  let size = 0;
  for (const value of Object.values(row))
    size += 8 + (typeof value === "object" ? (value?.length ?? 0) : String(value).length);
  return size;
}

function encode(row: StoredRow): BackupRow["row"] {
  const entries = Object.entries(row).map(([column, value]) => [
    column,
    value instanceof Uint8Array ? { base64: Buffer.from(value).toString("base64") } : value,
  ]);
  return Object.fromEntries(entries);
}
