import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { sql } from "kysely";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPostgres, type TestPostgres } from "../../../test/start-postgres.js";
import { AppError } from "../../protocol/errors.ts";
import { auditDraft, idempotencyOutcome, newTenant, runWrite, startedRun } from "../../testing/builders.ts";
import { eventually } from "../../testing/eventually.ts";
import { verifiedChain } from "../../testing/store-contract/audit.ts";
import { accept, save, sequencesOf, upTo } from "../../testing/store-contract/subject.ts";
import type { Change, Store } from "../port/store.ts";
import { kyselyOn, openPool } from "./connection.ts";
import { EVERYTHING } from "./listen.ts";
import { openPostgresStore } from "./postgres-store.ts";

// Of its own, because it is killed.
let postgres: TestPostgres;
let store: Store;
beforeAll(async () => {
  postgres = await startPostgres();
  store = await openPostgresStore({ url: postgres.url, poolSize: 4, statementTimeoutMs: 1_000 });
});
afterAll(async () => {
  await store.close();
  await postgres.stop();
});

async function withClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: postgres.url });
  client.on("error", () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const unavailable = { code: "unavailable" };

describe("a server that is killed under load and comes back", () => {
  test("has every unit that was acknowledged, and goes on without anybody's help", { timeout: 60_000 }, async () => {
    const tenant = newTenant();
    const acknowledged: string[] = [];
    const complaints: unknown[] = [];
    const changes: Change[] = [];
    store.onChange((change) => changes.push(change));
    let over = false;
    const work = async (): Promise<void> => {
      while (!over) {
        const started = startedRun({ tenant });
        const { runId } = started.run;
        const idempotency = idempotencyOutcome(tenant, { key: runId });
        try {
          const unit = { tenant, runs: [runWrite(started)], audit: [auditDraft("run.create", { runId })], idempotency };
          if ((await store.commit(unit)).ok) acknowledged.push(runId);
          expect(await store.readRun({ tenant }, runId)).toEqual(started.run);
        } catch (error) {
          complaints.push(error);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      }
    };
    const workers = upTo(16).map(work);
    for (const _ of upTo(2)) {
      const before = acknowledged.length;
      await eventually(() => expect(acknowledged.length).toBeGreaterThan(before + 50));
      await postgres.kill();
      await expect(store.ping()).rejects.toMatchObject(unavailable);
      await postgres.restart();
    }
    const before = acknowledged.length;
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(before + 50));
    // The listener is back as well and says that it may have missed something.
    await eventually(() => expect(changes).toContainEqual(EVERYTHING));
    over = true;
    await Promise.all(workers);

    expect(complaints.length).toBeGreaterThan(0);
    for (const error of complaints) expect(error).toMatchObject(unavailable);
    const chain = await verifiedChain(store, tenant);
    const recorded = new Set(chain.map((entry) => entry.details["runId"]));
    for (const runId of acknowledged) {
      expect(recorded).toContain(runId);
      expect(await sequencesOf(store, runId)).toEqual([0]);
    }
    // What was not acknowledged happened whole or not at all.
    expect((await store.countRuns()).pending).toBe(chain.length);
  });
});

describe("a connection that somebody ends", () => {
  test("fails at most what was under way; the next commit has a new one", async () => {
    const tenant = newTenant();
    await accept(store, { tenant, audit: [auditDraft()] });
    await withClient((client) =>
      client.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'assay'"),
    );
    await eventually(async () => {
      await save(store, startedRun({ tenant }));
      await store.ping();
    });
    const other = await openPostgresStore({ url: postgres.url });
    const heard: Change[] = [];
    store.onChange((change) => heard.push(change));
    await eventually(async () => {
      await save(other, startedRun({ tenant }));
      expect(heard.length).toBeGreaterThan(0);
    });
    await other.close();
  });

  test("while it is lent out and nothing is asked of it does not end the process", async () => {
    const pool = openPool({ url: postgres.url, statementTimeoutMs: 1_000, connectTimeoutMs: 1_000 }, 1);
    const db = kyselyOn(pool);
    const lent = db.connection().execute(async (connection) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(connection);
      await withClient((client) => client.query("select pg_terminate_backend($1, 5000)", [rows[0]?.pid]));
      // Long enough for the server's last words to arrive; without a listener Node would throw them where nobody catches.
      await new Promise((resolve) => setTimeout(resolve, 50));
      return sql`select 1`.execute(connection);
    });
    await expect(lent).rejects.toThrow();
    // It was not given back as if it were sound.
    expect((await sql<{ one: number }>`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  test("the moment it is open does not end the process either", async () => {
    const server = createServer((socket) => socket.once("data", () => socket.end(WELCOME_AND_GOODBYE))).listen(0);
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const url = `postgres://nobody@127.0.0.1:${port}/none`;
    const pool = openPool({ url, statementTimeoutMs: 1_000, connectTimeoutMs: 1_000 }, 1);
    await expect(sql`select 1`.execute(kyselyOn(pool))).rejects.toThrow();
    await pool.end();
    server.close();
  });
});

/** Authentication is fine, ready for a query, and a fatal error, all in one packet. */
const WELCOME_AND_GOODBYE = Buffer.concat([
  Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]),
  Buffer.from([0x5a, 0, 0, 0, 5, 0x49]),
  Buffer.from([0x45, 0, 0, 0, 30]),
  Buffer.from("SFATAL\0C57P01\0Mgone away\0\0"),
]);

describe("a lock that somebody does not let go", () => {
  test("makes the commits that need it unavailable after a while, and no others afterwards", async () => {
    const tenant = newTenant();
    await accept(store, { tenant, audit: [auditDraft()] });
    await withClient(async (client) => {
      await client.query("begin");
      await client.query("select 1 from audit_heads where tenant = $1 for update", [tenant]);
      await expect(store.commit({ tenant, audit: [auditDraft()] })).rejects.toMatchObject(unavailable);
      await accept(store, { tenant: newTenant(), audit: [auditDraft()] });
    });
    await accept(store, { tenant, audit: [auditDraft()] });
    expect(await verifiedChain(store, tenant)).toHaveLength(2);
  });
});

describe("values that PostgreSQL cannot store", () => {
  test("fail their own unit, and not as trouble with the database", async () => {
    const tenant = newTenant();
    const units = upTo(20).map((n) => ({
      tenant,
      audit: [auditDraft(`deed.${n}`)],
      idempotency: idempotencyOutcome(tenant, { key: n === 13 ? "nul \u0000" : `k-${n}` }),
    }));
    const results = await Promise.allSettled(units.map((unit) => store.commit(unit)));
    expect(results.map(({ status }) => status)).toEqual(upTo(20).map((n) => (n === 13 ? "rejected" : "fulfilled")));
    const [failed] = results.filter((result) => result.status === "rejected");
    expect(failed?.reason).not.toBeInstanceOf(AppError);
    expect((await verifiedChain(store, tenant)).map(({ action }) => action)).not.toContain("deed.13");
  });
});

describe("values that the driver cannot send", () => {
  test("let no part of their unit be committed, and fail no other unit", async () => {
    const tenant = newTenant();
    // The driver raises what `toPostgres` throws while it writes the message, after the statements before it were sent.
    const tooLong = {
      toPostgres() {
        throw new RangeError("Invalid string length");
      },
    };
    const attempts = upTo(12).map((n) => {
      const started = startedRun({ tenant });
      const digest = n === 7 ? (tooLong as unknown as string) : "digest";
      const idempotency = idempotencyOutcome(tenant, { key: `k-${n}`, digest });
      return {
        runId: started.run.runId,
        unit: { tenant, runs: [runWrite(started)], audit: [auditDraft()], idempotency },
      };
    });
    const results = await Promise.allSettled(attempts.map(({ unit }) => store.commit(unit)));
    expect(results.map(({ status }) => status)).toEqual(upTo(12).map((n) => (n === 7 ? "rejected" : "fulfilled")));
    const failed = results.find((result) => result.status === "rejected");
    expect(failed?.reason).toBeInstanceOf(RangeError);

    const written = await Promise.all(attempts.map(async ({ runId }) => (await sequencesOf(store, runId)).length));
    expect(written).toEqual(upTo(12).map((n) => (n === 7 ? 0 : 1)));
    expect(await verifiedChain(store, tenant)).toHaveLength(11);
    // The same statements work on the connection that follows.
    await accept(store, { tenant, idempotency: idempotencyOutcome(tenant, { key: "after" }) });
  });
});

describe("slow reads of one tenant", () => {
  test("leave connections to other tenants, and to the leases of the host", async () => {
    await withClient(async (client) => {
      await client.query("begin");
      await client.query("lock table documents in access exclusive mode");
      const read = { tenant: newTenant(), kind: "suite", key: "k" } as const;
      const blocked = Promise.allSettled(upTo(20).map(() => store.readDocument(read)));
      const startedMs = performance.now();
      expect(await store.listTapes({ tenant: newTenant() }, { limit: 1 })).toEqual([]);
      expect(await store.renewLeases("w", [newTenant()], 1)).toEqual([]);
      await store.ping();
      expect(performance.now() - startedMs).toBeLessThan(900);
      await client.query("rollback");
      await blocked;
    });
  });
});

describe("history", () => {
  test("cannot be rewritten, whoever asks the database", async () => {
    const tenant = newTenant();
    const started = startedRun({ tenant });
    await accept(store, { tenant, runs: [runWrite(started)], audit: [auditDraft()] });
    await withClient(async (client) => {
      await expect(client.query("update audit_log set actor = 'nobody'")).rejects.toThrow("audit_log refuses update");
      await expect(client.query("delete from audit_log")).rejects.toThrow("audit_log refuses delete");
      await expect(client.query("update run_events set body = '{}'")).rejects.toThrow("run_events refuses update");
    });
  });
});

describe("a database that cannot be opened", () => {
  test("says so and why", async () => {
    const url = new URL(postgres.url);
    url.port = "1";
    await expect(openPostgresStore({ url: url.href })).rejects.toMatchObject({ code: "unavailable" });
    await expect(openPostgresStore({ url: url.href })).rejects.toThrow("ECONNREFUSED");
    await withClient((client) => client.query("create database empty"));
    url.port = new URL(postgres.url).port;
    url.pathname = "/empty";
    await expect(openPostgresStore({ url: url.href, migrate: false })).rejects.toMatchObject({
      code: "schema_outdated",
    });
  });
});
