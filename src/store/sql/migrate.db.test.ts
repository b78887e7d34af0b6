import { Kysely, Migrator, PostgresDialect, sql } from "kysely";
import { Pool } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createDatabase } from "../../testing/postgres.ts";
import { kyselyOver } from "../sqlite/kysely-dialect.ts";
import { openForWriting } from "../sqlite/open-database.ts";
import { migrate, requireCurrentSchema, schemaState } from "./migrate.ts";
import { KNOWN_VERSION, migrationProvider } from "./migrations.ts";
import type { Tables } from "./tables.ts";

interface Opened {
  readonly db: Kysely<Tables>;
  close(): Promise<void>;
}

async function openSqlite(): Promise<Opened> {
  const handle = await openForWriting(":memory:");
  return { db: kyselyOver(handle), close: async () => handle.close() };
}

async function openPostgres(): Promise<Opened> {
  const database = await createDatabase();
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

  test("has everything the queries know of, and nothing more", async () => {
    const { db } = opened;
    await migrate(db);
    const tables = await db.introspection.getTables();
    const columns = Object.fromEntries(
      tables.map(({ name, columns }) => [name, columns.map((column) => column.name).sort()]),
    );
    expect(columns).toEqual(COLUMNS);
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

/** The keys of `Tables`, which the compiler holds equal to the interface. */
const COLUMNS: { readonly [T in keyof Tables]: readonly (keyof Tables[T])[] } = {
  runs: [
    "created_at",
    "dedup_scope",
    "engine_version",
    "lease_owner",
    "lease_until",
    "run_id",
    "state",
    "status",
    "tenant",
    "updated_at",
    "version",
    "wake_at",
    "workflow_hash",
    "workflow_id",
    "workspace",
  ],
  run_events: ["body", "run_id", "sealed", "sequence", "type"],
  workflows: ["created_at", "definition", "hash", "workflow_id"],
  workflow_heads: ["hash", "registered_at", "tenant", "workflow_id"],
  api_keys: [
    "created_at",
    "expires_at",
    "hash",
    "key_id",
    "kind",
    "label",
    "last_used_at",
    "principal",
    "revoked_at",
    "scopes",
    "tenant",
    "workspace",
  ],
  role_bindings: ["group_names", "principal", "roles", "tenant", "workspace"],
  role_definitions: ["role", "scopes", "tenant", "workspace"],
  audit_log: ["action", "actor", "details", "occurred_at", "prev_hash", "seq", "target", "tenant"],
  audit_heads: ["hash", "seq", "tenant"],
  audit_checkpoints: ["at_seq", "checkpoint", "created_at", "merkle_root", "prev_seq", "signature", "tenant"],
  idempotency: [
    "body",
    "digest",
    "expires_at",
    "headers",
    "idem_key",
    "lease_owner",
    "lease_until",
    "operation",
    "state",
    "status",
    "tenant",
  ],
  effects: [
    "claimed_at",
    "claimed_by",
    "effect_id",
    "expires_at",
    "finished_at",
    "node_id",
    "ordinal",
    "outcome",
    "provider_key",
    "run_id",
    "state",
    "tenant",
  ],
  artifacts: ["artifact_id", "artifact_type", "body", "content_type", "created_at", "run_id", "tenant"],
  host_secrets: ["name", "value"],
  interrupts: [
    "body",
    "closed_at",
    "correlation_id",
    "deadline",
    "decided_by",
    "event_type",
    "interrupt_id",
    "kind",
    "node_id",
    "outcome",
    "overridden",
    "reason",
    "requested_at",
    "run_id",
    "started_by",
    "status",
    "tenant",
    "workflow_id",
    "workspace",
  ],
  interrupt_votes: [
    "action",
    "interrupt_id",
    "node_id",
    "opened_at",
    "override",
    "principal",
    "tenant",
    "voted_at",
    "voter",
    "workflow_id",
    "workspace",
  ],
  external_events: [
    "answer",
    "correlation_id",
    "event_id",
    "event_type",
    "expires_at",
    "payload",
    "received_at",
    "state",
    "tenant",
    "workspace",
  ],
  webhooks: [
    "circuit_until",
    "created_at",
    "created_by",
    "disabled_at",
    "events",
    "failing_since",
    "failures",
    "secret",
    "tags",
    "tenant",
    "url",
    "webhook_id",
    "workspace",
  ],
  deliveries: [
    "attempts",
    "created_at",
    "delivery_id",
    "event_type",
    "finished_at",
    "interrupt_id",
    "last_error",
    "last_status",
    "lease_owner",
    "lease_until",
    "next_at",
    "run_id",
    "sequence",
    "state",
    "tenant",
    "url",
    "webhook_id",
    "workspace",
  ],
};
