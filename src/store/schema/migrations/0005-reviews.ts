import { type Kysely, type Migration, sql } from "kysely";
import { COLUMN_TYPES, type ColumnTypes, dialectOf } from "../dialect.ts";

/** Conversations between agents about what should change. */
export const reviews: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const types = COLUMN_TYPES[dialectOf(db)];
    for (const statement of [...reviewTables(types), ...INDEXES]) await sql.raw(statement).execute(db);
  },
};

/** Long texts are last, as in `runs`. */
const reviewTables = ({ text, int, bigint, strict }: ColumnTypes): string[] => [
  `create table review_sessions (
    session_id ${text} primary key,
    tenant ${text} not null,
    workspace ${text},
    agent ${text} not null,
    created_by ${text} not null,
    created_at ${bigint} not null,
    updated_at ${bigint} not null,
    revision ${int} not null,
    rounds ${int} not null,
    lease_owner ${text},
    lease_until ${bigint},
    memory ${text} not null
  )${strict}`,
  `create table review_rounds (
    session_id ${text} not null,
    n ${int} not null,
    tenant ${text} not null,
    at ${bigint} not null,
    body ${text} not null,
    primary key (session_id, n)
  )${strict}`,
];

const INDEXES = [
  "create index review_sessions_by_tenant on review_sessions (tenant, created_at, session_id)",
  "create index review_sessions_by_agent on review_sessions (tenant, agent, created_at, session_id)",
  "create index review_sessions_by_use on review_sessions (tenant, updated_at, session_id)",
];
