import { join } from "node:path";
import { type Kysely, sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ENGINE_VERSION } from "../../protocol/events.ts";
import {
  artifactWrite,
  auditDraft,
  effectClaim,
  HOUR,
  idempotencyClaim,
  idempotencyOutcome,
  NOW,
  newKey,
  next,
  nodeCompleted,
  nodeStarted,
  runCompleted,
  runWrite,
  startedRun,
  workflowWrite,
} from "../../testing/builders.ts";
import { fillJudgments } from "../../testing/filled-judgments.ts";
import { externalEvent, newDelivery, newWebhook, openGate, voteRecorded } from "../../testing/gate-builders.ts";
import { createEmptyDatabase, type TestDatabase } from "../../testing/postgres.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import type { Store } from "../port/store.ts";
import { kyselyOn, openPool } from "../postgres/connection.ts";
import { openPostgresStore } from "../postgres/postgres-store.ts";
import { KNOWN_VERSION, migrate } from "../schema/migrations.ts";
import { COPIED_TABLES, type Tables } from "../schema/tables.ts";
import { kyselyOver } from "../sqlite/kysely-dialect.ts";
import { openForWriting, openReadSnapshot } from "../sqlite/open-database.ts";
import { openSqliteStore } from "../sqlite/sqlite-store.ts";
import { type BackupTrailer, backupLines } from "./backup.ts";
import { restoreBackup } from "./restore.ts";

const TENANT = "tenant-ä";
const AT = "2027-03-01T12:00:00.000Z";

interface Place {
  store(): Promise<Store>;
  /** A migrated database to read and write directly. */
  use<T>(deed: (db: Kysely<Tables>) => Promise<T>): Promise<T>;
}

let database: TestDatabase;
let postgres: Place;
let sqlite: Place;

beforeEach(async () => {
  database = await createEmptyDatabase();
  postgres = inPostgres(database.url);
  sqlite = inFile();
});
afterEach(() => database.drop());

function inFile(): Place {
  const path = join(tempDir(), "assay.db");
  return {
    store: () => openSqliteStore({ path }),
    use: async (deed) => {
      const db = await openForWriting(path);
      try {
        await migrate(kyselyOver(db));
        return await deed(kyselyOver(db));
      } finally {
        db.close();
      }
    },
  };
}

function inPostgres(url: string): Place {
  return {
    store: () => openPostgresStore({ url }),
    use: async (deed) => {
      const pool = openPool({ url, statementTimeoutMs: 30_000, connectTimeoutMs: 5000 }, 2);
      try {
        await migrate(kyselyOn(pool));
        return await deed(kyselyOn(pool));
      } finally {
        await pool.end();
      }
    },
  };
}

/** At least a row in every table, with everything a row can hold: nothing, bytes, line separators, a held lease. */
async function fill(place: Place): Promise<void> {
  const store = await place.store();
  const run = startedRun({ tenant: TENANT, inputs: { text: '\u2028 \u0001 \\ " 🦀' }, sealedInputs: { secret: "x" } });
  const done = next(run, NOW + 1, nodeStarted(), nodeCompleted(), runCompleted());
  const lease = { owner: "worker-1", untilMs: NOW + HOUR };
  const gate = openGate({ tenant: TENANT }, { timeoutMs: HOUR });
  const webhook = newWebhook(TENANT, { workspace: "w", circuitUntilMs: NOW - 1 });
  await store.commit({
    tenant: TENANT,
    runs: [
      runWrite(run, { lease, dedupScope: "s" }),
      runWrite(startedRun({ tenant: TENANT, workspace: "w" })),
      runWrite(gate),
    ],
    cancelledFamilies: [{ rootRunId: run.run.runId, atMs: NOW }],
    audit: [auditDraft("run.created", { n: 1.5 }), auditDraft("other")],
    idempotency: idempotencyOutcome(TENANT),
    effectClaims: [effectClaim(run.run.runId)],
    workflows: [workflowWrite("", "wf-all"), workflowWrite(TENANT, "wf-own")],
    artifacts: [artifactWrite(run.run.runId)],
    keys: [{ type: "put", key: newKey(TENANT, { label: "a label", expiresAtMs: NOW + HOUR }) }],
    roles: [{ tenant: TENANT, principal: "pat", roles: ["owner"], groups: ["release"] }],
    roleDefinitions: [{ type: "put", role: "auditor", scopes: ["audit:read"] }],
    externalEvents: [{ type: "put", event: externalEvent(TENANT), nowMs: NOW }],
    webhooks: [{ type: "put", webhook }],
    deliveries: [newDelivery({ webhookId: webhook.webhookId }), newDelivery({ url: "https://example.com/back" })],
    documents: [
      { type: "put", document: { tenant: "", kind: "suite", key: "a@1", revision: 1, atMs: NOW, body: "{}" } },
      {
        type: "put",
        document: {
          ...{ tenant: TENANT, workspace: "w", kind: "eval-task", key: "a", runId: run.run.runId },
          ...{ revision: 1, atMs: NOW, expiresAtMs: NOW + HOUR, body: '{"text":"🦀"}' },
        },
      },
    ],
  });
  await store.commit({ tenant: TENANT, runs: [runWrite(next(gate, NOW, voteRecorded(gate.interruptId, "ada")))] });
  await store.claimDeliveries({ owner: "host-1", nowMs: NOW, untilMs: NOW + HOUR, limit: 1 });
  await store.commit({ tenant: TENANT, runs: [runWrite(done, { heldBy: "worker-1" })] });
  await store.claimIdempotency(idempotencyClaim(TENANT, { key: "pending" }));
  await store.hostSecret("signing-key", () => "-----BEGIN-----\n…");
  await fillJudgments(store, TENANT);
  const checkpoint = {
    checkpoint: "cp-1",
    atSequence: 2,
    merkleRoot: "ab",
    signature: "cd",
    prevSequence: 0,
    atMs: NOW,
  };
  await store.putCheckpoint(TENANT, checkpoint);
  await store.close();
}

async function backupOf(place: Place): Promise<{ lines: string[]; trailer: BackupTrailer }> {
  return place.use(async (db) => {
    const lines: string[] = [];
    const generator = backupLines(db, AT);
    for (;;) {
      const line = await generator.next();
      if (line.done) return { lines, trailer: line.value };
      lines.push(line.value);
    }
  });
}

function restoreInto(place: Place, text: string): Promise<BackupTrailer> {
  return place.use((db) => restoreBackup(db, bytesOf(text)));
}

/** In small pieces, so that lines and characters are cut. */
async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let i = 0; i < bytes.length; i += 1000) yield bytes.subarray(i, i + 1000);
}

/** Leases are not restored; everything else is. */
function withoutLeases(lines: readonly string[]): unknown[] {
  return lines.slice(1, -1).map((line) => {
    const { table, row } = JSON.parse(line);
    return { table, row: { ...row, ...("lease_owner" in row ? { lease_owner: null, lease_until: null } : {}) } };
  });
}

describe("a backup", () => {
  test("has every table, a header and a trailer that counts", async () => {
    await fill(sqlite);
    const { lines, trailer } = await backupOf(sqlite);
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      assayBackup: 1,
      schemaVersion: KNOWN_VERSION,
      createdAt: AT,
      tables: COPIED_TABLES,
    });
    expect(JSON.parse(lines.at(-1) ?? "")).toEqual(trailer);
    for (const table of COPIED_TABLES) expect(trailer.rows[table], table).toBeGreaterThan(0);
    expect(lines).toHaveLength(2 + Object.values(trailer.rows).reduce((sum, n) => sum + n, 0));
  });

  test("reads tables of many pages whole and in order", async () => {
    const store = await sqlite.store();
    const rows = 2500;
    const audit = Array.from({ length: rows }, (_, i) => auditDraft("n", { i }));
    await store.commit({ tenant: TENANT, audit });
    await store.close();
    const { lines, trailer } = await backupOf(sqlite);
    expect(trailer.rows["audit_log"]).toBe(rows);
    const seqs = lines.flatMap((line) => JSON.parse(line).row?.details ?? []).map((details) => JSON.parse(details).i);
    expect(seqs).toEqual(Array.from({ length: rows }, (_, i) => i));
  });

  test("is of one moment, whatever is written meanwhile", async () => {
    const path = join(tempDir(), "assay.db");
    const store = await openSqliteStore({ path });
    const commit = () => store.commit({ tenant: TENANT, audit: [auditDraft()] });
    for (let i = 0; i < 50; i++) await commit();
    const snapshot = await openReadSnapshot(path);
    const generator = backupLines(kyselyOver(snapshot.db), AT);
    let trailer: BackupTrailer | undefined;
    while (trailer === undefined) {
      await commit();
      const line = await generator.next();
      if (line.done) trailer = line.value;
    }
    snapshot.close();
    await store.close();
    expect(trailer.rows["audit_log"]).toBe(50);
  });
});

describe("restoring", () => {
  test.each<[string, string, () => readonly [Place, Place]]>([
    ["SQLite", "PostgreSQL", () => [sqlite, postgres]],
    ["PostgreSQL", "SQLite", () => [postgres, sqlite]],
    ["SQLite", "SQLite", () => [sqlite, inFile()]],
  ])("from %s into %s gives the same rows, without leases", async (_, __, places) => {
    const [from, to] = places();
    await fill(from);
    const { lines, trailer } = await backupOf(from);
    expect(await restoreInto(to, lines.join(""))).toEqual(trailer);
    const again = await backupOf(to);
    expect(withoutLeases(again.lines)).toEqual(withoutLeases(lines));
    for (const table of ["runs", "deliveries"] as const) {
      const leases = await to.use((db) =>
        db.selectFrom(table).select(["lease_owner", "lease_until"]).distinct().execute(),
      );
      expect(leases).toEqual([{ lease_owner: null, lease_until: null }]);
    }
  });

  test("gives a database that works: the runs are due and the audit chain goes on", async () => {
    await fill(postgres);
    await restoreInto(sqlite, (await backupOf(postgres)).lines.join(""));
    const store = await sqlite.store();
    const claim = { owner: "w", nowMs: NOW + 10, untilMs: NOW + HOUR, limit: 10, engineVersion: ENGINE_VERSION };
    const due = await store.claimRuns(claim);
    expect(due.length).toBeGreaterThan(0);
    expect(await store.claimDeliveries({ ...claim, limit: 10 })).toHaveLength(2);
    expect(await store.openInterrupts({ tenant: TENANT }, { limit: 10, nowMs: NOW })).toHaveLength(1);
    await store.commit({ tenant: TENANT, audit: [auditDraft()] });
    const chain = await store.readAudit(TENANT, 1, 10, 10);
    expect(chain.map((entry) => entry.atSequence)).toEqual([1, 2, 3, 4, 5, 6]);
    await store.close();
  });

  test.each<[string, () => Place]>([
    ["SQLite", () => sqlite],
    ["PostgreSQL", () => postgres],
  ])("gives annotations that are found by their words on %s", async (_, placeOf) => {
    await restoreInto(placeOf(), (await filledLines()).join(""));
    const store = await placeOf().store();
    const query = { limit: 9, order: "oldest", words: ["naive"] } as const;
    expect(await store.listAnnotations({ tenant: TENANT }, query)).toHaveLength(1);
    await store.close();
  });

  test("is refused where there are rows already", async () => {
    await fill(sqlite);
    await fill(postgres);
    const { lines } = await backupOf(sqlite);
    for (const place of [sqlite, postgres]) {
      await expect(restoreInto(place, lines.join(""))).rejects.toThrow(
        /the database is not empty \(host_secrets has rows\)/,
      );
    }
  });

  test.each([
    ["cut short", (lines: string[]) => lines.slice(0, -1), /truncated/],
    ["cut in a line", (lines: string[]) => [lines.join("").slice(0, -200)], /truncated|not JSON/],
    ["altered", (lines: string[]) => lines.map((line) => line.replace('"pat"', '"eve"')), /SHA-256 does not match/],
    ["missing a row", (lines: string[]) => [...lines.slice(0, 2), ...lines.slice(3)], /SHA-256 does not match/],
    ["holding a row twice", (lines: string[]) => [...lines.slice(0, 2), ...lines.slice(1)], /altered or damaged/],
    ["holding a wrong column", (lines: string[]) => lines.map((l) => l.replace('"actor"', '"actress"')), /altered/],
    ["followed by more", (lines: string[]) => [...lines, lines[1] ?? ""], /goes on after its end/],
    ["of another schema", (lines: string[]) => replaceHeader(lines, { schemaVersion: 99 }), /schema version 99/],
    ["of another format", (lines: string[]) => replaceHeader(lines, { assayBackup: 2 }), /backup format 2/],
    ["something else", () => ['{"hello":1}\n'], /no backup of Assay/],
    ["not even text", () => ["\u0000\u0001"], /no backup of Assay/],
    ["empty", () => [], /truncated/],
  ])("a file that is %s leaves nothing behind", async (_, change, message) => {
    const lines = await filledLines();
    for (const place of [sqlite, postgres]) {
      await expect(restoreInto(place, change(lines).join(""))).rejects.toThrow(message);
      const { rows } = (await backupOf(place)).trailer;
      expect(Object.values(rows).every((n) => n === 0)).toBe(true);
    }
  });

  test("waits for nobody and lets nobody in between on PostgreSQL", async () => {
    await postgres.use(async (db) => {
      const writing = async () => {
        await sql`insert into host_secrets (name, value) values ('late', 'x')`.execute(db);
      };
      await fill(sqlite);
      const { lines } = await backupOf(sqlite);
      let late: Promise<void> | undefined;
      const bytes = async function* () {
        late = writing();
        yield* bytesOf(lines.join(""));
      };
      const { rows } = await restoreBackup(db, bytes());
      await late;
      const { count } = await db
        .selectFrom("host_secrets")
        .select((table) => table.fn.countAll<number>().as("count"))
        .executeTakeFirstOrThrow();
      expect(Number(count)).toBe((rows["host_secrets"] ?? 0) + 1);
    });
  });
});

let filled: Promise<string[]> | undefined;

/** A good backup; made once, since nobody changes it. */
function filledLines(): Promise<string[]> {
  filled ??= (async () => {
    const place = inFile();
    await fill(place);
    return (await backupOf(place)).lines;
  })();
  return filled;
}

function replaceHeader(lines: readonly string[], change: object): string[] {
  const [header = "", ...rest] = lines;
  return [`${JSON.stringify({ ...JSON.parse(header), ...change })}\n`, ...rest];
}
