import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../testing/temp-dir.ts";
import { migrate } from "../schema/migrations.ts";
import { flattenUnit } from "./flatten-unit.ts";
import { kyselyOver } from "./kysely-dialect.ts";
import { openForWriting } from "./open-database.ts";
import type { Operation, Outcome, Write } from "./operations.ts";
import { type WriteConnection, Writer, writeInAnotherThread } from "./writer.ts";

const operation: Operation = { kind: "statement", sql: "select 1", parameters: [] };
const outcome: Outcome = { kind: "rows", rows: [], changes: 0 };

/** A connection whose commits end when the test says so. */
function heldConnection() {
  const batches: { size: number; end(): void; fail(error: Error): void }[] = [];
  let closed = false;
  const connection: WriteConnection = {
    commit: (operations) =>
      new Promise((resolve, reject) => {
        const end = () => resolve(operations.map(() => outcome));
        batches.push({ size: operations.length, end, fail: reject });
      }),
    close: async () => {
      closed = true;
    },
  };
  return { connection, batches, isClosed: () => closed, sizes: () => batches.map((batch) => batch.size) };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("a writer", () => {
  test("commits together what was asked in one turn of the event loop", async () => {
    const { connection, batches, sizes } = heldConnection();
    const writer = new Writer(connection, () => {});
    const callers = Promise.all(Array.from({ length: 64 }, () => writer.run(operation)));
    await turn();
    expect(sizes()).toEqual([64]);
    batches[0]?.end();
    expect(await callers).toHaveLength(64);
  });

  test("commits large units one by one, and so a unit with deletions", async () => {
    const { connection, batches, sizes } = heldConnection();
    const writer = new Writer(connection, () => {});
    const unit = flattenUnit({ tenant: "t1" });
    const writes = Array.from({ length: 1000 }, (): Write => ["insertAnnotationText", ["t1", "a", "x".repeat(1000)]]);
    const large: Operation = { kind: "unit", unit: { ...unit, writes } };
    const checks = { ...unit.checks, deletions: [{ runId: "r", version: 1, atMs: 0 }] };
    const deletion: Operation = { kind: "unit", unit: { ...unit, checks } };
    const callers = Promise.all(
      [operation, large, large, operation, deletion, operation].map((one) => writer.run(one)),
    );
    let isOver = false;
    void callers.then(() => {
      isOver = true;
    });
    for (let ended = 0; !isOver; await turn()) while (ended < batches.length) batches[ended++]?.end();
    expect(sizes()).toEqual([1, 1, 1, 1, 1, 1]);
  });

  test("gathers while a commit is under way and sends all of it as soon as that one returned", async () => {
    const { connection, batches, sizes } = heldConnection();
    const writer = new Writer(connection, () => {});
    const first = writer.run(operation);
    await turn();
    const others = Promise.all([1, 2, 3].map(() => writer.run(operation)));
    await turn();
    expect(sizes()).toEqual([1]);
    batches[0]?.end();
    await first;
    await turn();
    expect(sizes()).toEqual([1, 3]);
    batches[1]?.end();
    await others;
  });

  test("fails everyone in a batch whose connection failed, and goes on", async () => {
    const { connection, batches } = heldConnection();
    const writer = new Writer(connection, () => {});
    const lost = Promise.allSettled([writer.run(operation), writer.run(operation)]);
    await turn();
    batches[0]?.fail(new Error("gone"));
    expect((await lost).map((result) => result.status)).toEqual(["rejected", "rejected"]);
    const next = writer.run(operation);
    await turn();
    batches[1]?.end();
    expect(await next).toEqual(outcome);
  });

  test("closes after everything that was asked for has happened", async () => {
    const { connection, batches, isClosed } = heldConnection();
    const writer = new Writer(connection, () => {});
    const asked = writer.run(operation);
    const closing = writer.close();
    await expect(writer.run(operation)).rejects.toMatchObject({ code: "unavailable" });
    await turn();
    expect(isClosed()).toBe(false);
    batches[0]?.end();
    expect(await asked).toEqual(outcome);
    await closing;
    expect(isClosed()).toBe(true);
  });
});

const ask: Operation = { kind: "statement", sql: "select 1 as one", parameters: [] };

async function migratedFile(): Promise<string> {
  const path = join(tempDir(), "assay.db");
  const db = await openForWriting(path);
  await migrate(kyselyOver(db));
  db.close();
  return path;
}

describe("the thread that writes", () => {
  test("answers a batch in order, and ends when it is closed", async () => {
    const connection = await writeInAnotherThread(await migratedFile());
    const two: Operation = { ...ask, sql: "select 2 as two" };
    expect(await connection.commit([ask, two])).toEqual([
      { kind: "rows", rows: [{ one: 1 }], changes: 1 },
      { kind: "rows", rows: [{ two: 2 }], changes: 1 },
    ]);
    await connection.close();
    await expect(connection.commit([ask])).rejects.toMatchObject({ code: "unavailable" });
  });

  test("takes every call under way and every later one with it when it dies", async () => {
    const connection = await writeInAnotherThread(await migratedFile());
    // A message that was cut off: nothing in the thread is prepared for that.
    await expect(connection.commit(["{"] as never)).rejects.toMatchObject({ code: "unavailable" });
    await expect(connection.commit([ask])).rejects.toMatchObject({ code: "unavailable" });
    await connection.close();
  });

  test("does not start on a file that cannot be opened", async () => {
    await expect(writeInAnotherThread(join(tempDir(), "no such folder", "assay.db"))).rejects.toThrow("open");
  });
});
