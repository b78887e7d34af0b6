import { describe, expect, test } from "vitest";
import {
  artifactWrite,
  auditDraft,
  idempotencyOutcome,
  newTenant,
  runWrite,
  startedRun,
} from "../../testing/builders.ts";
import type { Unit } from "../port/store.ts";
import { migrate } from "../schema/migrations.ts";
import { BatchCommitter } from "./commit-batch.ts";
import { flattenUnit } from "./flatten-unit.ts";
import { kyselyOver } from "./kysely-dialect.ts";
import { IN_MEMORY, openForWriting, type SqliteDatabase, type SqliteStatement } from "./open-database.ts";
import type { Operation } from "./operations.ts";

async function database(): Promise<SqliteDatabase> {
  const db = await openForWriting(IN_MEMORY);
  await migrate(kyselyOver(db));
  return db;
}

function asks(...units: readonly Unit[]): Operation[] {
  return units.map((unit) => ({ kind: "unit", unit: flattenUnit(unit) }));
}

function creation(tenant: string, more: Partial<Unit> = {}): Unit {
  return { tenant, runs: [runWrite(startedRun({ tenant }))], audit: [auditDraft()], ...more };
}

function count(db: SqliteDatabase, table: string): number {
  return (db.prepare(`select count(*) as n from ${table}`).get() as { n: number }).n;
}

/** Counts commits, and lets one fail on request as a disk would. */
function watched(db: SqliteDatabase) {
  let commits = 0;
  let broken = false;
  const watch = (statement: SqliteStatement): SqliteStatement => ({
    run: () => {
      if (broken) throw Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode: 10 });
      commits += 1;
      return statement.run();
    },
    get: () => undefined,
    all: () => [],
    columns: () => [],
  });
  return {
    db: {
      prepare: (sql: string) => (sql === "commit" ? watch(db.prepare(sql)) : db.prepare(sql)),
      exec: (sql: string) => db.exec(sql),
      close: () => db.close(),
    },
    commits: () => commits,
    break: () => {
      broken = true;
    },
    mend: () => {
      broken = false;
    },
  };
}

describe("a batch of units", () => {
  test("is one commit, however many there are", async () => {
    const db = await database();
    const { db: handle, commits } = watched(db);
    const outcomes = new BatchCommitter(handle).commit(asks(...Array.from({ length: 64 }, () => creation("t1"))));
    expect(outcomes).toEqual(outcomes.map(() => ({ kind: "committed", work: true })));
    expect(commits()).toBe(1);
    expect(count(db, "runs")).toBe(64);
  });

  test("commits around a unit that is refused, whatever it is refused for", async () => {
    const db = await database();
    const committer = new BatchCommitter(db);
    const tenant = newTenant();
    const standing = creation(tenant, { idempotency: idempotencyOutcome(tenant) });
    committer.commit(asks(standing));

    const late = creation(tenant, { idempotency: idempotencyOutcome(tenant) });
    const outcomes = committer.commit(asks(creation(tenant), standing, late, creation(tenant)));
    expect(outcomes.map(({ kind }) => kind)).toEqual(["committed", "refused", "refused", "committed"]);
    expect([count(db, "runs"), count(db, "run_events"), count(db, "audit_log")]).toEqual([3, 3, 3]);
  });

  test("fails only the caller whose unit cannot be written", async () => {
    const db = await database();
    const committer = new BatchCommitter(db);
    // No check asks for the id of a delivery: the primary key refuses the second.
    const delivery = { deliveryId: "d1", runId: "run-1", eventType: "run.started", atMs: 1 };
    const twice = [0, 1].map((sequence) => ({ ...delivery, sequence }));
    const clash = { tenant: "t1", deliveries: twice, audit: [auditDraft()] };
    const outcomes = committer.commit(asks(creation("t1"), clash, creation("t1")));
    expect(outcomes.map(({ kind }) => kind)).toEqual(["committed", "failed", "committed"]);
    expect(outcomes[1]).toMatchObject({ databaseError: false });
    expect(db.prepare("select seq from audit_heads where tenant = 't1'").get()).toEqual({ seq: 2 });
    expect(db.prepare("select count(*) as n from audit_log where tenant = 't1'").get()).toEqual({ n: 2 });
  });

  test("refuses a run whose id another tenant has, and tells nothing of it", async () => {
    const committer = new BatchCommitter(await database());
    const other = creation(newTenant());
    committer.commit(asks(other));
    const [outcome] = committer.commit(asks({ tenant: "t1", runs: other.runs ?? [], audit: [auditDraft()] }));
    expect(outcome).toMatchObject({ kind: "refused", refusal: { type: "version", version: 0 } });
  });
});

describe("a disk that fails", () => {
  test("during the commit fails every unit of the batch, and the next batch succeeds", async () => {
    const db = await database();
    const disk = watched(db);
    const committer = new BatchCommitter(disk.db);
    committer.commit(asks(creation("t1")));
    disk.break();
    const failed = { kind: "failed", databaseError: true, message: "The database cannot answer: disk I/O error" };
    expect(committer.commit(asks(creation("t1"), creation("t1")))).toEqual([failed, failed]);
    disk.mend();
    expect(committer.commit(asks(creation("t1")))).toEqual([{ kind: "committed", work: true }]);
    expect([count(db, "runs"), count(db, "audit_log")]).toEqual([2, 2]);
    expect(db.prepare("select seq from audit_heads").get()).toEqual({ seq: 2 });
  });

  test("for want of space fails every unit of the batch, and there is no harm once there is space", async () => {
    const db = await database();
    const committer = new BatchCommitter(db);
    const large = creation("t1", { artifacts: [artifactWrite("run-1", { body: new Uint8Array(1_000_000) })] });
    const { page_count } = db.prepare("pragma page_count").get() as { page_count: number };
    db.exec(`pragma max_page_count = ${page_count + 20}`);
    const outcomes = committer.commit(asks(creation("t1"), large));
    expect(outcomes).toMatchObject([{ databaseError: true }, { databaseError: true }]);
    expect([count(db, "runs"), count(db, "artifacts")]).toEqual([0, 0]);
    db.exec("pragma max_page_count = 1000000");
    expect(committer.commit(asks(creation("t1"), large)).map(({ kind }) => kind)).toEqual(["committed", "committed"]);
  });
});
