import { type Kysely, type Migration, sql } from "kysely";
import { COLUMN_TYPES, type ColumnTypes, dialectOf } from "../dialect.ts";

/** Runs that came as tapes, and the sidecars that were pushed to runs. */
export const tapes: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const types = COLUMN_TYPES[dialectOf(db)];
    for (const statement of [...tapeTables(types), ...INDEXES]) await sql.raw(statement).execute(db);
  },
};

/** Long texts are last, as in `runs`. */
const tapeTables = ({ text, int, bigint, strict }: ColumnTypes): string[] => [
  `create table tapes (
    run_id ${text} primary key,
    tenant ${text} not null,
    workspace ${text},
    digest ${text} not null,
    name ${text},
    records ${int} not null,
    imported_by ${text} not null,
    imported_at ${bigint} not null,
    header ${text} not null,
    bodies ${text} not null
  )${strict}`,
  `create table tape_sidecars (
    run_id ${text} primary key,
    tenant ${text} not null,
    revision ${int} not null,
    pushed_by ${text} not null,
    pushed_at ${bigint} not null,
    body ${text} not null
  )${strict}`,
  `alter table annotations add column tape_row ${text}`,
];

const INDEXES = [
  // Where there is no workspace, a digest is there once as well: nulls alone would all differ.
  "create unique index tapes_by_digest on tapes (tenant, digest, coalesce(workspace, ''))",
  "create index tapes_by_tenant on tapes (tenant, run_id)",
  // Ends in the order of the list: without it SQLite would rather look at all that the tenant has than sort a few.
  "create index tapes_of_digest on tapes (tenant, digest, run_id)",
];
