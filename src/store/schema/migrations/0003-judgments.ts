import { type Kysely, type Migration, sql } from "kysely";
import { COLUMN_TYPES, type ColumnTypes, type DialectName, dialectOf } from "../dialect.ts";
import { QUEUE_INDEXES, queueTables } from "./0003-queues.ts";
import { fillRunFacts } from "./0003-run-facts.ts";

/** Annotations with their history, tallies and words; review queues; and what runs are found by when they have ended. */
export const judgments: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    const dialect = dialectOf(db);
    const types = COLUMN_TYPES[dialect];
    const tables = [...runColumns(types), ...annotationTables(types), ...queueTables(types)];
    for (const statement of [...tables, ...SEARCH[dialect](types), ...INDEXES, ...QUEUE_INDEXES]) {
      await sql.raw(statement).execute(db);
    }
    await fillRunFacts(db);
  },
};

const runColumns = ({ text, int }: ColumnTypes): string[] => [
  `alter table runs add column agent_id ${text}`,
  `alter table runs add column intervened ${int} not null default 0`,
];

/** The long texts of an annotation are last, for the reason `runs.state` is. */
const annotationTables = ({ text, int, bigint, double, strict, clustered }: ColumnTypes): string[] => [
  `create table annotations (
    tenant ${text} not null,
    annotation_id ${text} not null,
    workspace ${text},
    run_id ${text} not null,
    workflow_id ${text} not null,
    agent_id ${text},
    event_id ${text},
    node_id ${text},
    about_node ${text},
    kind ${text} not null,
    rating ${int},
    label ${text},
    actor ${text} not null,
    actor_kind ${text} not null,
    confidence ${double},
    created_at ${bigint} not null,
    state ${text} not null,
    supersedes ${text},
    superseded_by ${text},
    superseded_at ${bigint},
    retracted_by ${text},
    retracted_at ${bigint},
    retraction_reason ${text},
    flag_status ${text},
    flag_closed_by ${text},
    flag_closed_at ${bigint},
    flag_note ${text},
    queue_item_id ${text},
    imported_by ${text},
    correction ${text},
    note ${text},
    primary key (tenant, annotation_id)
  )${strict}`,
  `create table annotation_changes (
    tenant ${text} not null,
    seq ${bigint} not null,
    n ${int} not null,
    annotation_id ${text} not null,
    change ${text} not null,
    primary key (tenant, seq, n)
  )${strict}`,
  `create table run_feedback (
    tenant ${text} not null,
    run_id ${text} not null,
    node_id ${text} not null,
    actor_kind ${text} not null,
    annotations ${int} not null,
    r1 ${int} not null,
    r2 ${int} not null,
    r3 ${int} not null,
    r4 ${int} not null,
    r5 ${int} not null,
    corrections ${int} not null,
    flags ${int} not null,
    passes ${int} not null,
    fails ${int} not null,
    primary key (tenant, run_id, node_id, actor_kind)
  )${clustered}`,
  `create table run_labels (
    tenant ${text} not null,
    run_id ${text} not null,
    node_id ${text} not null,
    actor_kind ${text} not null,
    label ${text} not null,
    n ${int} not null,
    primary key (tenant, run_id, node_id, actor_kind, label)
  )${clustered}`,
  `create table export_cursors (
    name ${text} not null,
    tenant ${text} not null,
    seq ${bigint} not null,
    n ${int} not null,
    primary key (name, tenant)
  )${clustered}`,
];

/** Each ends in the order of every list, so that a page is one walk along an index from where the last one ended. */
const INDEXES = [
  "create index annotations_by_kind on annotations (tenant, kind, created_at, annotation_id)",
  // For callers bound to a workspace: the tenant may have a thousand times as many. Of two that fit alike SQLite takes the
  // one that was made later, so this is before all that narrow more down and after the one that narrows less.
  `create index annotations_by_workspace on annotations (tenant, workspace, created_at, annotation_id)
    where workspace is not null`,
  "create index annotations_by_run on annotations (tenant, run_id, created_at, annotation_id)",
  "create index annotations_by_time on annotations (tenant, created_at, annotation_id)",
  "create index annotations_by_workflow on annotations (tenant, workflow_id, created_at, annotation_id)",
  "create index annotations_by_actor on annotations (tenant, actor, created_at, annotation_id)",
  `create index annotations_by_label on annotations (tenant, label, created_at, annotation_id) where kind = 'label'`,
  `create index annotations_by_agent on annotations (tenant, agent_id, created_at, annotation_id)
    where agent_id is not null`,
  `create index annotations_by_node on annotations (tenant, about_node, created_at, annotation_id)
    where about_node is not null`,
  `create index annotations_flagged on annotations (tenant, flag_status, created_at, annotation_id)
    where flag_status is not null and state = 'live'`,
  // Few, and otherwise found only by looking at all.
  `create index annotations_gone on annotations (tenant, state, created_at, annotation_id) where state <> 'live'`,
  "create unique index annotation_changes_by_id on annotation_changes (tenant, annotation_id, change)",
  // When a run ended, and all that a summary asks about it: it reads no row.
  `create index runs_ended on runs (tenant, updated_at, run_id, workflow_id, workspace, agent_id, intervened, status)
    where status in ('completed', 'failed', 'cancelled')`,
];

/**
 * Words are made by `search-words.ts`, so that both databases find the same: neither takes them apart again. SQLite's
 * index says which row by number, which must be a column: VACUUM would renumber rows that have none.
 */
const SEARCH: Readonly<Record<DialectName, (types: ColumnTypes) => string[]>> = {
  sqlite: ({ text, strict }) => [
    `create table annotation_texts (
      text_number integer primary key,
      tenant ${text} not null,
      annotation_id ${text} not null,
      words ${text} not null,
      unique (tenant, annotation_id)
    )${strict}`,
    `create virtual table annotation_words using fts5 (words, content = 'annotation_texts', content_rowid = 'text_number',
      tokenize = 'ascii', detail = 'none', columnsize = 0)`,
    // What is deleted is gone from the index at once, not when it is next merged.
    "insert into annotation_words (annotation_words, rank) values ('secure-delete', 1)",
    `create trigger annotation_texts_inserted after insert on annotation_texts begin
      insert into annotation_words (rowid, words) values (new.text_number, new.words); end`,
    `create trigger annotation_texts_deleted after delete on annotation_texts begin
      insert into annotation_words (annotation_words, rowid, words)
      values ('delete', old.text_number, old.words); end`,
  ],
  postgres: ({ text }) => [
    `create table annotation_texts (
      tenant ${text} not null,
      annotation_id ${text} not null,
      words ${text} not null,
      lexemes tsvector not null generated always as (array_to_tsvector(string_to_array(words, ' '))) stored,
      primary key (tenant, annotation_id)
    )`,
    "create index annotation_words on annotation_texts using gin (lexemes)",
  ],
};
