import { type Kysely, type Migration, sql } from "kysely";
import { COLUMN_TYPES, type ColumnTypes, dialectOf } from "../dialect.ts";

/** Things with a name and a revision. */
export const documents: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const types = COLUMN_TYPES[dialectOf(db)];
    for (const statement of [documentTable(types), ...INDEXES]) await sql.raw(statement).execute(db);
  },
};

const documentTable = ({ text, int, bigint, strict }: ColumnTypes): string =>
  `create table documents (
    tenant ${text} not null,
    kind ${text} not null,
    doc_key ${text} not null,
    workspace ${text},
    run_id ${text},
    revision ${int} not null,
    at ${bigint} not null,
    expires_at ${bigint},
    body ${text} not null,
    primary key (tenant, kind, doc_key)
  )${strict}`;

const INDEXES = [
  "create index documents_by_run on documents (run_id) where run_id is not null",
  "create index documents_by_expiry on documents (expires_at) where expires_at is not null",
];
