import { createHash } from "node:crypto";
import { type Kysely, sql, type Transaction } from "kysely";
import { byteLines } from "../../formats/text/byte-chunks.ts";
import { AppError } from "../../protocol/errors.ts";
import { textRow } from "../rows/annotation-rows.ts";
import { dialectOf } from "../schema/dialect.ts";
import type { AnnotationsTable } from "../schema/judgments.ts";
import { KNOWN_VERSION } from "../schema/migrations.ts";
import { COPIED_TABLES, type CopiedTable, TABLES, type Tables } from "../schema/tables.ts";
import { BACKUP_FORMAT, type BackupHeader, type BackupRow, type BackupTrailer, type StoredRow } from "./backup.ts";

/** Enough rows for speed, and few enough parameters for either database. */
const BATCH_ROWS = 200;
const BATCH_BYTES = 1_048_576;

/**
 * Fills an empty database of the current schema from the bytes of a backup, in one transaction: all of it, or an
 * `unusable_input` that says what is wrong and nothing. Leases are not restored: their holders are not part of this host.
 */
export async function restoreBackup(db: Kysely<Tables>, bytes: AsyncIterable<Uint8Array>): Promise<BackupTrailer> {
  return db.transaction().execute(async (transaction) => {
    await requireEmpty(transaction);
    return readBackup(bytes, transaction);
  });
}

async function requireEmpty(db: Transaction<Tables>): Promise<void> {
  if (dialectOf(db) === "postgres") {
    // No other connection may write until this is over, or "empty" would hold for a moment only.
    await sql`lock table ${sql.join(COPIED_TABLES.map((table) => sql.table(table)))} in exclusive mode`.execute(db);
  }
  for (const table of COPIED_TABLES) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db);
    if (rows.length > 0) refuse(`the database is not empty (${table} has rows); restore into a new one`);
  }
}

async function readBackup(bytes: AsyncIterable<Uint8Array>, db: Transaction<Tables>): Promise<BackupTrailer> {
  const hash = createHash("sha256");
  const counts: Record<string, number> = Object.fromEntries(COPIED_TABLES.map((table) => [table, 0]));
  const batch = new Batch(db);
  let header: BackupHeader | undefined;
  let trailer: BackupTrailer | undefined;

  for await (const line of byteLines(bytes)) {
    if (trailer) refuse("the file goes on after its end; it was altered");
    const value = parseLine(line);
    if (!header) header = checkHeader(value);
    else if (isRow(value)) {
      counts[value.table] = (counts[value.table] ?? 0) + 1;
      await batch.add(value.table, decode(value.row), line.length);
    } else {
      trailer = value as BackupTrailer;
      continue;
    }
    hash.update(line).update("\n");
  }
  if (!header || !trailer) return refuse("the file is truncated: its last line is missing");
  if (trailer.sha256 !== hash.digest("hex")) refuse("the file was altered or damaged: its SHA-256 does not match");
  const miscounted = COPIED_TABLES.find((table) => trailer.rows?.[table] !== counts[table]);
  if (miscounted) refuse(`the file does not hold as many rows of ${miscounted} as it says`);
  await batch.flush();
  return trailer;
}

function parseLine(bytes: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
    if (typeof value === "object" && value !== null) return value;
  } catch {}
  return refuse("a line is not JSON; this is no backup of Assay, or it is truncated");
}

function checkHeader(value: unknown): BackupHeader {
  const { assayBackup, schemaVersion } = value as Partial<BackupHeader>;
  if (typeof assayBackup !== "number") return refuse("this is no backup of Assay");
  if (assayBackup !== BACKUP_FORMAT) {
    return refuse(`the file has backup format ${assayBackup}; this Assay reads format ${BACKUP_FORMAT}`);
  }
  if (schemaVersion !== KNOWN_VERSION) {
    return refuse(
      `the backup has schema version ${schemaVersion} and this Assay ${KNOWN_VERSION}; ` +
        "restore it with the version that made it, then upgrade",
    );
  }
  return value as BackupHeader;
}

function isRow(value: unknown): value is BackupRow {
  const { table, row } = value as Partial<BackupRow>;
  return typeof table === "string" && Object.hasOwn(TABLES, table) && typeof row === "object" && row !== null;
}

function decode(row: BackupRow["row"]): StoredRow {
  const entries = Object.entries(row).map(([column, value]) => {
    if (column === "lease_owner" || column === "lease_until") return [column, null];
    return [column, typeof value === "object" && value !== null ? Buffer.from(value.base64, "base64") : value];
  });
  return Object.fromEntries(entries);
}

/** Rows of one table on their way into it. */
class Batch {
  readonly #db: Transaction<Tables>;
  #table: CopiedTable | undefined;
  #rows: StoredRow[] = [];
  #bytes = 0;

  constructor(db: Transaction<Tables>) {
    this.#db = db;
  }

  async add(table: CopiedTable, row: StoredRow, bytes: number): Promise<void> {
    if (table !== this.#table || this.#rows.length >= BATCH_ROWS || this.#bytes >= BATCH_BYTES) await this.flush();
    this.#table = table;
    this.#rows.push(row);
    this.#bytes += bytes;
  }

  async flush(): Promise<void> {
    if (this.#table === undefined || this.#rows.length === 0) return;
    const insert = this.#db.insertInto(this.#table).values(this.#rows as never);
    try {
      await insert.execute();
    } catch (error) {
      if (isAboutTheRows(error)) refuse(`the file was altered or damaged: its rows do not fit into ${this.#table}`);
      throw error;
    }
    if (this.#table === "annotations") await this.#addTexts();
    this.#rows = [];
    this.#bytes = 0;
  }

  async #addTexts(): Promise<void> {
    const texts = (this.#rows as readonly object[] as AnnotationsTable[]).flatMap((row) => textRow(row) ?? []);
    if (texts.length > 0) await this.#db.insertInto("annotation_texts").values(texts).execute();
  }
}

/** A broken constraint, a wrong type or an unknown column, in the words of either driver. */
function isAboutTheRows(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  if (typeof errcode === "number") return SQLITE_ROW_CODES.includes(errcode & 0xff);
  return typeof code === "string" && /^(22|23|42)/.test(code);
}

/** ERROR, CONSTRAINT and MISMATCH. */
const SQLITE_ROW_CODES = [1, 19, 20];

function refuse(problem: string): never {
  throw new AppError("unusable_input", { problem });
}
