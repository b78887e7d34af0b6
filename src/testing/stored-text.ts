import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import type { Store } from "../store/port/store.ts";
import { openPostgresStore } from "../store/postgres/postgres-store.ts";
import { openForReading } from "../store/sqlite/open-database.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { createDatabase } from "./postgres.ts";
import { tempDir } from "./temp-dir.ts";

/** A database on a disk, and a look at it from outside. */
export interface OnDisk {
  /** As many as processes that share it; a SQLite file has one. */
  readonly stores: readonly [Store, ...Store[]];
  /** Every table that has this text in any of its columns. */
  tablesWith(text: string): Promise<string[]>;
  /** Whether it is anywhere in the files, in use or not. For when the stores are closed; PostgreSQL's are its own. */
  filesHave?(text: string): boolean;
  drop(): Promise<void>;
}

export const BOTH_ON_DISK: readonly (readonly [string, () => Promise<OnDisk>])[] = [
  ["SQLite", onSqlite],
  ["PostgreSQL", onPostgres],
];

async function onSqlite(): Promise<OnDisk> {
  const path = join(tempDir(), "assay.db");
  const tablesWith = async (text: string) => {
    const db = await openForReading(path);
    try {
      const names = db.prepare("select name from sqlite_master where type = 'table'").all() as { name: string }[];
      return names.map(({ name }) => name).filter((name) => has(db.prepare(`select * from ${name}`).all(), text));
    } finally {
      db.close();
    }
  };
  const files = [path, `${path}-wal`];
  const filesHave = (text: string) => files.some((file) => existsSync(file) && readFileSync(file).includes(text));
  return { stores: [await openSqliteStore({ path })], tablesWith, filesHave, drop: async () => {} };
}

function has(rows: readonly unknown[], text: string): boolean {
  const values = rows.flatMap((row) => Object.values(row as object));
  return values.some((value) => (value instanceof Uint8Array ? Buffer.from(value) : String(value)).includes(text));
}

async function onPostgres(): Promise<OnDisk> {
  const { url, drop } = await createDatabase();
  const first = await openPostgresStore({ url });
  return { stores: [first, await openPostgresStore({ url })], tablesWith: (text) => inPostgres(url, text), drop };
}

async function inPostgres(url: string, text: string): Promise<string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const tables = await client.query("select tablename from pg_tables where schemaname = 'public'");
    const found: string[] = [];
    for (const { tablename } of tables.rows) {
      const { rows } = await client.query(
        `select 1 from ${tablename} as one where strpos(one::text, $1) > 0 or strpos(one::text, $2) > 0 limit 1`,
        [text, Buffer.from(text).toString("hex")],
      );
      if (rows.length > 0) found.push(tablename);
    }
    return found;
  } finally {
    await client.end();
  }
}
