import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { auditLogOn, checkpointsOf, record } from "../../testing/audit-log.ts";
import { createDatabase, type TestDatabase } from "../../testing/postgres.ts";
import { verifyAudit } from "./verify.ts";

let database: TestDatabase;
let stores: Store[];
beforeEach(async () => {
  database = await createDatabase();
  const first = await openPostgresStore({ url: database.url });
  stores = [first, ...(await Promise.all([2, 3].map(() => openPostgresStore({ url: database.url }))))];
});
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await database.drop();
});

const T = "acme";

async function sql(...statements: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

describe("several hosts on one PostgreSQL", () => {
  test("sign with one key and never fork the series, whoever writes and whoever signs", async () => {
    const logs = await Promise.all(stores.map((store) => auditLogOn(store)));
    expect(new Set(logs.map(({ signer }) => signer.publicKey)).size).toBe(1);
    for (let round = 0; round < 5; round++) {
      const writing = logs.map(({ store }) => record(store, T, 7));
      await Promise.all([...writing, ...logs.map(({ checkpointer }) => checkpointer.sweep())]);
      await Promise.all(logs.map(({ checkpointer }) => checkpointer.checkpointTenant(T)));
    }
    for (const { store, signer } of logs) {
      const series = await checkpointsOf(store, T);
      expect(series.map(([prev]) => prev)).toEqual([0, ...series.map(([, at]) => at)].slice(0, -1));
      expect(series.at(-1)?.[1]).toBe(105);
      expect(series.every(([prev, at]) => at - prev <= 4)).toBe(true);
      const result = await verifyAudit(store, signer, T, 0, 1000);
      expect(result).toMatchObject({ chainValid: true, checkpointsValid: true, anomalies: [] });
    }
  });
});

describe("the audit tables of PostgreSQL", () => {
  test("refuse to be changed or emptied; what is done to them all the same shows", async () => {
    const [store] = stores;
    if (!store) throw new Error("no store");
    const { checkpointer, signer } = await auditLogOn(store);
    await record(store, T, 6);
    await checkpointer.checkpointTenant(T);
    for (const statement of [
      "update audit_log set actor = 'x'",
      "delete from audit_log",
      "truncate audit_log",
      "update audit_checkpoints set signature = 'x'",
      "delete from audit_checkpoints",
      "truncate audit_checkpoints",
    ]) {
      await expect(sql(statement)).rejects.toThrow("refuses");
    }
    expect(await verifyAudit(store, signer, T, 0, 100)).toMatchObject({ chainValid: true });

    await sql("alter table audit_log disable trigger all", "update audit_log set actor = 'x' where seq = 2");
    const changed = await verifyAudit(store, signer, T, 0, 100);
    expect(changed).toMatchObject({ chainValid: false, checkpointsValid: false, anomalies: [{ atSeq: 3 }] });
    await sql("update audit_log set details = 'not json' where seq = 2");
    const unreadable = await verifyAudit(store, signer, T, 0, 100);
    expect(unreadable).toMatchObject({ chainValid: false, anomalies: [{ atSeq: 2 }] });
  });
});
