import { Kysely, Migrator, PostgresDialect, sql } from "kysely";
import { Pool } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Signal } from "../../protocol/judgments/annotation.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { annotationOf } from "../../testing/annotation-builders.ts";
import { NOW, next, startedRun } from "../../testing/builders.ts";
import { interruptResolved, openGate } from "../../testing/gate-builders.ts";
import { createEmptyDatabase } from "../../testing/postgres.ts";
import type { AnnotationRecord } from "../port/judgments.ts";
import { feedbackRows } from "../read/annotations.ts";
import { annotationRow } from "../rows/annotation-rows.ts";
import { tallyRows } from "../rows/feedback-tallies.ts";
import { allRows } from "../rows/interrupt-rows.ts";
import { kyselyOver } from "../sqlite/kysely-dialect.ts";
import { openForWriting } from "../sqlite/open-database.ts";
import { COLUMN_TYPES, type DialectName, dialectOf } from "./dialect.ts";
import { KNOWN_VERSION, migrate, migrationProvider, requireCurrentSchema, schemaState } from "./migrations.ts";
import type { AnyColumn } from "./table.ts";
import { TABLES, type Tables } from "./tables.ts";

interface Opened {
  readonly db: Kysely<Tables>;
  close(): Promise<void>;
}

async function openSqlite(): Promise<Opened> {
  const handle = await openForWriting(":memory:");
  return { db: kyselyOver(handle), close: async () => handle.close() };
}

async function openPostgres(): Promise<Opened> {
  const database = await createEmptyDatabase();
  const pool = new Pool({ connectionString: database.url });
  // The last connection may still be saying goodbye when its database is dropped.
  pool.on("error", () => {});
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return { db, close: () => db.destroy().then(database.drop) };
}

describe.each([
  ["SQLite", openSqlite],
  ["PostgreSQL", openPostgres],
])("the schema on %s", (_, open) => {
  let opened: Opened;
  beforeEach(async () => {
    opened = await open();
  });
  afterEach(() => opened.close());

  test("grows from nothing to the version of this build", async () => {
    const { db } = opened;
    expect(await schemaState(db)).toEqual({ found: 0, known: KNOWN_VERSION });
    await expect(requireCurrentSchema(db)).rejects.toMatchObject({ code: "schema_outdated" });
    await migrate(db);
    expect(await schemaState(db)).toEqual({ found: KNOWN_VERSION, known: KNOWN_VERSION });
    await requireCurrentSchema(db);
  });

  test("is left alone by a second migration", async () => {
    const { db } = opened;
    await migrate(db);
    await db.insertInto("host_secrets").values({ name: "n", value: "v" }).execute();
    await migrate(db);
    expect(await db.selectFrom("host_secrets").selectAll().execute()).toEqual([{ name: "n", value: "v" }]);
  });

  test("of the first version keeps what is in it", async () => {
    const { db } = opened;
    const { error } = await new Migrator({ db, provider: migrationProvider }).migrateTo("0001-runs");
    expect(error).toBeUndefined();
    const binding = { tenant: "t1", workspace: "", principal: "pat", roles: '["owner"]' };
    await sql`insert into role_bindings (tenant, workspace, principal, roles)
      values (${sql.join(Object.values(binding))})`.execute(db);
    await expect(requireCurrentSchema(db)).rejects.toMatchObject({ code: "schema_outdated" });
    await migrate(db);
    expect(await db.selectFrom("role_bindings").selectAll().execute()).toEqual([{ ...binding, group_names: "[]" }]);
  });

  test("of the version before judgments says of its runs whose they are and where people decided", async () => {
    const { db } = opened;
    const { error } = await new Migrator({ db, provider: migrationProvider }).migrateTo("0002-gates");
    expect(error).toBeUndefined();
    const open = openGate({ tenant: "t1" }, { kind: "clarification" });
    const decided = next(open, NOW, interruptResolved(open.interruptId, "answered", { resolvedBy: "kim" }));
    const said = startedRun({ tenant: "t1", metadata: { agentId: "writer" } });
    const misleading = startedRun({ tenant: "t1", inputs: { agentId: "nobody" } });
    for (const { run } of [open, decided, said, misleading]) await insertRunOfTheTime(db, run);
    await migrate(db);
    const rows = await db.selectFrom("runs").select(["run_id", "agent_id", "intervened"]).execute();
    const facts = new Map(rows.map(({ run_id, ...rest }) => [run_id, rest]));
    expect(facts.get(decided.run.runId)).toEqual({ agent_id: null, intervened: 1 });
    expect(facts.get(said.run.runId)).toEqual({ agent_id: "writer", intervened: 0 });
    expect(facts.get(misleading.run.runId)).toEqual({ agent_id: null, intervened: 0 });
  });

  test("of the version before tapes keeps its judgments, which came with no line of a file", async () => {
    const { db } = opened;
    const { error } = await new Migrator({ db, provider: migrationProvider }).migrateTo("0003-judgments");
    expect(error).toBeUndefined();
    const row = annotationRow(annotationOf(startedRun({ tenant: "t1" }).run, { note: "as it was" }));
    const { tape_row: _, ...ofTheTime } = row;
    await db
      .insertInto("annotations")
      .values(ofTheTime as typeof row)
      .execute();
    await migrate(db);
    const columns = ["annotation_id", "note", "tape_row"] as const;
    const { annotation_id } = row;
    const kept = [{ annotation_id, note: "as it was", tape_row: null }];
    expect(await db.selectFrom("annotations").select(columns).execute()).toEqual(kept);
  });

  test("of the version before imports were counted apart has its tallies counted again, and no others", async () => {
    const { db } = opened;
    const { error } = await new Migrator({ db, provider: migrationProvider }).migrateTo("0011-run-counts");
    expect(error).toBeUndefined();
    const [one, two] = [startedRun({ tenant: "t1" }).run, startedRun({ tenant: "t1" }).run];
    for (const run of [one, two]) await insertRunOfTheTime(db, run);
    const mixed = mixedJudgments(one);
    const own = mixedJudgments(two).map(madeHere);
    await db
      .insertInto("annotations")
      .values([...mixed, ...own].map(annotationRow))
      .execute();
    // As the host of that time counted: whatever the origin.
    const { feedback, labels } = tallyRows([...mixed, ...own].map(madeHere));
    await db.insertInto("run_feedback").values(feedback).execute();
    await db.insertInto("run_labels").values(labels).execute();
    await migrate(db);
    expect(await feedbackRows(db, one.runId)).toEqual(tallyRows(mixed));
    expect(await feedbackRows(db, two.runId)).toEqual(tallyRows(own));
  });

  test("of a newer build is refused and not touched", async () => {
    const { db } = opened;
    await migrate(db);
    const newer = String(KNOWN_VERSION + 1).padStart(4, "0");
    await sql`insert into kysely_migration (name, timestamp) values (${`${newer}-later`}, 'then')`.execute(db);
    const found = KNOWN_VERSION + 1;
    const refused = { code: "schema_too_new", details: { found, known: KNOWN_VERSION } };
    await expect(migrate(db)).rejects.toMatchObject(refused);
    await expect(requireCurrentSchema(db)).rejects.toMatchObject(refused);
    expect(await schemaState(db)).toEqual({ found, known: KNOWN_VERSION });
  });

  test("is exactly what is described", async () => {
    const { db } = opened;
    await migrate(db);
    const tables = await db.introspection.getTables();
    const names = tables.map(({ name }) => name).filter((name) => !SQLITE_INDEX.test(name));
    expect(names.sort()).toEqual(Object.keys(TABLES).sort());
    const dialect = dialectOf(db);
    for (const table of Object.values(TABLES)) {
      const made = madeOf(await (dialect === "sqlite" ? sqliteColumns : postgresColumns)(db, table.name));
      expect(made, table.name).toEqual(described(table, dialect));
    }
  });

  describe("keeps history as it was:", () => {
    beforeEach(async () => {
      await migrate(opened.db);
      await insertHistory(opened.db);
    });

    test.each([
      "update audit_log set actor = 'mallory'",
      "delete from audit_log",
      "update audit_checkpoints set signature = 'forged'",
      "delete from audit_checkpoints",
      "update run_events set body = '{}'",
      "update workflows set definition = '{}'",
    ])("%s is refused", async (statement) => {
      const { db } = opened;
      const before = await history(db);
      await expect(sql.raw(statement).execute(db)).rejects.toThrow("refuses");
      expect(await history(db)).toEqual(before);
    });

    test("replacing or emptying a table instead is refused too", async () => {
      const { db } = opened;
      const before = await history(db);
      const detour =
        open === openPostgres
          ? "truncate audit_log, audit_checkpoints"
          : "insert or replace into audit_log select tenant, seq, '', 'mallory', '', '', '{}', null from audit_log";
      await expect(sql.raw(detour).execute(db)).rejects.toThrow("refuses");
      expect(await history(db)).toEqual(before);
    });
  });
});

/** Judgments of every kind that is counted, made here and imported, about the run and about a node, live and not. */
function mixedJudgments(run: Run): AnnotationRecord[] {
  const stars = [1, 2, 3, 4, 5].map((rating): Signal => ({ kind: "rating", rating }));
  const labels = ["pass", "fail", "tone"].map((label): Signal => ({ kind: "label", label }));
  const signals: Signal[] = [...stars, ...labels, { kind: "correction", correction: "x" }, { kind: "flag" }];
  const origins = [{}, { importedBy: "sam" }, { importedBy: "sam", actorKind: "agent" } as const];
  const places = [{}, { aboutNode: "a" }, { state: "retracted" } as const];
  return signals.flatMap((signal) =>
    origins.flatMap((origin) => places.map((place) => annotationOf(run, { signal, ...origin, ...place }))),
  );
}

function madeHere({ importedBy: _, ...record }: AnnotationRecord): AnnotationRecord {
  return record;
}

/** SQLite's index of words is a table, and says by number which row it means; PostgreSQL's is over a column. */
const SQLITE_INDEX = /^annotation_words/;
const isKnown = ({ name }: { readonly name: string }) => !["text_number", "lexemes"].includes(name);

interface Made {
  readonly columns: Readonly<Record<string, string>>;
  readonly key: readonly string[];
}

/** A key may not hold nulls in either database, whether its columns say so or not. */
function described({ columns, key }: (typeof TABLES)[keyof typeof TABLES], dialect: DialectName): Made {
  const texts = Object.entries<AnyColumn>(columns).map(([name, { type, settings }]) => {
    const nullable = settings.nullable && !(key as readonly string[]).includes(name);
    return [name, columnText(COLUMN_TYPES[dialect][type], nullable, settings.default)];
  });
  return { columns: Object.fromEntries(texts), key };
}

function columnText(type: string, nullable: boolean, fallback = "nothing"): string {
  return `${type}${nullable ? "" : " not null"} default ${fallback}`;
}

interface MadeColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly fallback: string | null;
  /** From 1. */
  readonly place: number | null;
}

async function sqliteColumns(db: Kysely<Tables>, table: string): Promise<MadeColumn[]> {
  const { rows } = await sql<MadeColumn>`
    select name, lower(type) as type, "notnull" = 0 as nullable, dflt_value as fallback, pk as place
    from pragma_table_info(${table})`.execute(db);
  if (rows.every(isKnown)) return rows;
  // The index of words has taken the primary key for its numbers.
  const { rows: key } = await sql<{ name: string }>`
    select info.name from pragma_index_list(${table}) as list, pragma_index_info(list.name) as info
    where list.origin = 'u' order by info.seqno`.execute(db);
  return rows.map((row) => ({ ...row, place: key.findIndex(({ name }) => name === row.name) + 1 }));
}

async function postgresColumns(db: Kysely<Tables>, table: string): Promise<MadeColumn[]> {
  const { rows } = await sql<MadeColumn>`
    select attname as name, not attnotnull as nullable, pg_get_expr(adbin, adrelid) as fallback,
      format_type(atttypid, atttypmod) || case collname when 'C' then ' collate "C"' else '' end as type,
      array_position(string_to_array(indkey::text, ' '), attnum::text) as place
    from pg_attribute join pg_index on indrelid = attrelid and indisprimary
    left join pg_collation on pg_collation.oid = attcollation
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attrelid = to_regclass(${table}) and attnum > 0 and not attisdropped`.execute(db);
  return rows;
}

function madeOf(found: readonly MadeColumn[]): Made {
  const rows = found.filter(isKnown);
  const isKey = ({ place }: MadeColumn) => place !== null && place > 0;
  const texts = rows.map((row) => [
    row.name,
    columnText(row.type, Boolean(row.nullable) && !isKey(row), row.fallback?.replace(/^'(.*)'(::text)?$/, "$1")),
  ]);
  const key = rows.filter(isKey).sort((a, b) => Number(a.place) - Number(b.place));
  return { columns: Object.fromEntries(texts), key: key.map(({ name }) => name) };
}

/** As the host of that time wrote it. A run that is there already is replaced. */
async function insertRunOfTheTime(db: Kysely<Tables>, run: Run): Promise<void> {
  const { runId, workflowId, workflowHash, status, version, engineVersion } = run;
  const state = JSON.stringify(run);
  await sql`delete from runs where run_id = ${runId}`.execute(db);
  await sql`insert into runs (run_id, tenant, workflow_id, workflow_hash, status, version, engine_version, state,
    created_at, updated_at) values (${runId}, ${run.owner.tenant}, ${workflowId}, ${workflowHash}, ${status}, ${version},
    ${engineVersion}, ${state}, 0, 0)`.execute(db);
  const { interrupts } = allRows(run);
  for (const row of interrupts) {
    await sql`delete from interrupts where interrupt_id = ${row.interrupt_id}`.execute(db);
    await db.insertInto("interrupts").values(row).execute();
  }
}

async function insertHistory(db: Kysely<Tables>): Promise<void> {
  const entry = { occurred_at: "then", actor: "pat", action: "a", target: "t", details: "{}", prev_hash: null };
  await db
    .insertInto("audit_log")
    .values({ tenant: "t1", seq: 1, ...entry })
    .execute();
  const checkpoint = { checkpoint: "c", merkle_root: "r", signature: "s", created_at: 0 };
  await db
    .insertInto("audit_checkpoints")
    .values({ tenant: "t1", prev_seq: 0, at_seq: 1, ...checkpoint })
    .execute();
  const event = { run_id: "run-1", sequence: 0, type: "run.started", body: '{"a":1}', sealed: null };
  await db.insertInto("run_events").values(event).execute();
  const workflow = { hash: "h", workflow_id: "w", definition: '{"w":1}', created_at: 0 };
  await db.insertInto("workflows").values(workflow).execute();
}

async function history(db: Kysely<Tables>) {
  const tables = ["audit_log", "audit_checkpoints", "run_events", "workflows"] as const;
  return Promise.all(tables.map((table) => db.selectFrom(table).selectAll().execute()));
}
