import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { entryHash } from "../../formats/audit/audit-entry-hash.ts";
import { AuditVerifyResult } from "../../protocol/audit/audit.ts";
import { parse } from "../../protocol/schema.ts";
import { openForWriting } from "../../store/sqlite/open-database.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { type AuditLog, auditLogOn, checkpointsOf, record, tamper } from "../../testing/audit-log.ts";
import { auditDraft, newTenant, sha256 } from "../../testing/builders.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { auditSigner } from "./signer.ts";
import { verifyAudit } from "./verify.ts";

const path = join(tempDir(), "assay.db");
let log: AuditLog;
let T: string;

beforeAll(async () => {
  log = await auditLogOn(await openSqliteStore({ path }));
});
afterAll(() => log.store.close());

/** Ten entries with checkpoints after the fourth, the eighth and the tenth. */
beforeEach(async () => {
  T = newTenant();
  await record(log.store, T, 10);
  await log.checkpointer.checkpointTenant(T);
});

const verify = async (fromSeq = 0, toSeq = 1000) =>
  parse(AuditVerifyResult, await verifyAudit(log.store, log.signer, T, fromSeq, toSeq), "result");
const hashOf = async (seq: number) => {
  const [entry] = await log.store.readAudit(T, seq, seq, 1);
  return entry === undefined ? "" : entryHash(entry);
};
const placesOf = (result: AuditVerifyResult) => result.anomalies.map(({ atSeq }) => atSeq);

describe("an audit log that nobody touched", () => {
  test("verifies, with its checkpoints in order and the range as it was asked for", async () => {
    const result = await verify(0, 1000);
    expect(result).toMatchObject({ fromSeq: 0, toSeq: 1000, chainValid: true, checkpointsValid: true, anomalies: [] });
    expect(result.checkpoints.map(({ atSequence }) => atSequence)).toEqual([4, 8, 10]);
    expect(Object.keys(result.checkpoints[0] ?? {}).sort()).toEqual([
      "atSequence",
      "checkpoint",
      "merkleRoot",
      "signature",
    ]);
  });

  test.each([
    [0, 0, []],
    [1, 1, []],
    [10, 10, [10]],
    [5, 7, []],
    [5, 8, [8]],
    [6, 10, [8, 10]],
    [11, 20, []],
  ])("verifies in part, from %i to %i", async (from, to, ends) => {
    const result = await verify(from, to);
    expect(result).toMatchObject({ fromSeq: from, toSeq: to, chainValid: true, checkpointsValid: true, anomalies: [] });
    expect(result.checkpoints.map(({ atSequence }) => atSequence)).toEqual(ends);
  });

  test("verifies to its end where its entries are large", async () => {
    const text = "a".repeat(1_500_000);
    for (let n = 0; n < 4; n++) await log.store.commit({ tenant: T, audit: [auditDraft("large", { text })] });
    await log.checkpointer.checkpointTenant(T);
    const result = await verify(0, 1000);
    expect(result).toMatchObject({ chainValid: true, checkpointsValid: true, anomalies: [] });
    expect(result.checkpoints.at(-1)?.atSequence).toBe(14);
  });

  test("verifies before its first checkpoint, and when it is empty", async () => {
    const fresh = newTenant();
    await record(log.store, fresh, 3);
    for (const tenant of [fresh, newTenant()]) {
      const result = await verifyAudit(log.store, log.signer, tenant, 0, 10);
      expect(result).toMatchObject({ chainValid: true, checkpointsValid: true, checkpoints: [], anomalies: [] });
    }
  });

  test("verifies while it grows", async () => {
    const writing = (async () => {
      for (let n = 0; n < 30; n++) {
        await record(log.store, T, 7);
        await log.checkpointer.checkpointTenant(T);
      }
    })();
    for (let n = 0; n < 30; n++) expect(await verify(0, 100_000)).toMatchObject({ chainValid: true, anomalies: [] });
    await writing;
  });

  test("refuses a range that is none", async () => {
    for (const [from, to] of [
      [5, 4],
      [-1, 4],
      [0.5, 4],
      [0, Number.NaN],
    ] as const) {
      await expect(verify(from, to)).rejects.toMatchObject({ code: "validation_error" });
    }
  });

  test("lets other work go on while it is walked", async () => {
    await record(log.store, T, 5000);
    let turns = 0;
    const counting = setInterval(() => turns++, 0);
    await verify(0, 10_000);
    clearInterval(counting);
    expect(turns).toBeGreaterThan(2);
  });
});

describe("an audit log with an entry changed by hand", () => {
  test.each([
    ["details", `'{"n":99}'`],
    ["actor", "'mallory'"],
    ["occurred_at", "'2020-01-01T00:00:00.000Z'"],
  ])("shows it at the entry after, for its %s", async (column, value) => {
    const before = await hashOf(6);
    await tamper(path, `update audit_log set ${column} = ${value} where tenant = '${T}' and seq = 6`);
    const result = await verify();
    expect(result.chainValid).toBe(false);
    expect(result.checkpointsValid).toBe(false);
    expect(result.anomalies).toEqual([{ atSeq: 7, expectedPrevHash: await hashOf(6), actualPrevHash: before }]);
  });

  test("shows it also when the walk ends with that entry or begins after it", async () => {
    await tamper(path, `update audit_log set actor = 'mallory' where tenant = '${T}' and seq = 6`);
    expect(placesOf(await verify(6, 6))).toEqual([7]);
    expect(placesOf(await verify(7, 7))).toEqual([7]);
    expect((await verify(8, 8)).chainValid).toBe(false);
    expect((await verify(9, 10)).chainValid).toBe(true);
    expect((await verify(1, 4)).chainValid).toBe(true);
  });

  test("shows it at the end of the log, where no entry follows", async () => {
    await tamper(path, `update audit_log set actor = 'mallory' where tenant = '${T}' and seq = 10`);
    expect(placesOf(await verify())).toEqual([10]);
    await record(log.store, T, 1);
    expect(placesOf(await verify())).toEqual([11]);
  });

  test("shows it at the start, where none precedes", async () => {
    await tamper(path, `update audit_log set prev_hash = '${sha256("x")}' where tenant = '${T}' and seq = 1`);
    expect((await verify()).anomalies[0]).toEqual({ atSeq: 1, expectedPrevHash: "null", actualPrevHash: sha256("x") });
    await tamper(path, `update audit_log set prev_hash = null where tenant = '${T}' and seq = 9`);
    expect((await verify(9, 9)).anomalies[0]).toMatchObject({ atSeq: 9, actualPrevHash: "" });
  });

  test("shows it when what is left cannot even be read", async () => {
    await tamper(path, `update audit_log set details = 'not json' where tenant = '${T}' and seq = 6`);
    expect(placesOf(await verify())).toEqual([6]);
    expect((await verify()).checkpointsValid).toBe(false);
    await tamper(path, String.raw`update audit_log set details = '{"a":"\ud800"}' where tenant = '${T}' and seq = 6`);
    expect(placesOf(await verify())).toEqual([6]);
  });
});

describe("an audit log with entries removed, added or moved by hand", () => {
  test("shows a removed entry at its place", async () => {
    const before = await hashOf(4);
    await tamper(path, `delete from audit_log where tenant = '${T}' and seq = 5`);
    const result = await verify();
    expect(result).toMatchObject({ chainValid: false, checkpointsValid: false });
    expect(result.anomalies).toEqual([{ atSeq: 5, expectedPrevHash: before, actualPrevHash: "" }]);
    expect(placesOf(await verify(5, 5))).toEqual([5]);
    expect((await verify(6, 7)).chainValid).toBe(true);
  });

  test("shows a removed first entry", async () => {
    await tamper(path, `delete from audit_log where tenant = '${T}' and seq = 1`);
    expect((await verify()).anomalies[0]).toEqual({ atSeq: 1, expectedPrevHash: "null", actualPrevHash: "" });
  });

  test("shows two entries that changed places", async () => {
    const swap = (from: number, to: number) =>
      `update audit_log set seq = ${to} where tenant = '${T}' and seq = ${from}`;
    await tamper(path, swap(5, 99), swap(6, 5), swap(99, 6));
    const result = await verify();
    expect(result).toMatchObject({ chainValid: false, checkpointsValid: false });
    expect(placesOf(result)).toEqual([5, 6, 7]);
  });

  test("shows a tail that was cut off", async () => {
    await tamper(path, `delete from audit_log where tenant = '${T}' and seq >= 9`);
    const result = await verify();
    expect(result.chainValid).toBe(false);
    expect(result.anomalies).toEqual([{ atSeq: 9, expectedPrevHash: await hashOf(8), actualPrevHash: "" }]);
  });

  test("shows a tail that was cut off together with the head, by the checkpoint that covered it", async () => {
    const head = `update audit_heads set seq = 8, hash = '${await hashOf(8)}' where tenant = '${T}'`;
    await tamper(path, `delete from audit_log where tenant = '${T}' and seq >= 9`, head);
    const result = await verify();
    expect(result).toMatchObject({ chainValid: false, checkpointsValid: false });
    expect(placesOf(result)).toEqual([9]);
  });

  test("shows a head that was set back or removed", async () => {
    await tamper(path, `update audit_heads set seq = 8, hash = '${await hashOf(8)}' where tenant = '${T}'`);
    expect((await verify()).chainValid).toBe(false);
    await tamper(path, `delete from audit_heads where tenant = '${T}'`);
    expect((await verify()).chainValid).toBe(false);
    expect((await verify(5, 6)).chainValid).toBe(false);
    await tamper(path, `delete from audit_checkpoints where tenant = '${T}'`);
    expect((await verify(5, 6)).chainValid).toBe(false);
  });

  test("shows an entry put behind the end", async () => {
    await tamper(
      path,
      `insert into audit_log select tenant, 11, occurred_at, actor, action, target, details, prev_hash
       from audit_log where tenant = '${T}' and seq = 10`,
    );
    expect(placesOf(await verify())).toEqual([11]);
    expect((await verify(0, 10)).chainValid).toBe(true);
  });

  test.each([
    ["far behind the end", "details"],
    ["far behind the end that cannot be read", "'{'"],
  ])("shows an entry put %s, also in a range that ends before it", async (_, details) => {
    await tamper(
      path,
      `insert into audit_log select tenant, 4000000000000, occurred_at, actor, action, target, ${details}, prev_hash
       from audit_log where tenant = '${T}' and seq = 10`,
    );
    expect(placesOf(await verify(0, 11)).at(0)).toBe(11);
    expect((await verify(20_000, 39_999)).chainValid).toBe(false);
  });

  test("does not answer at the length of the log when all of it was rewritten", async () => {
    await record(log.store, T, 3000);
    await tamper(path, `update audit_log set prev_hash = 'x' where tenant = '${T}'`);
    expect((await verify(0, 100_000)).anomalies.length).toBeLessThanOrEqual(1001);
  });
});

describe("an audit log with a forged checkpoint", () => {
  const forge = (columns: string) =>
    tamper(path, `update audit_checkpoints set ${columns} where tenant = '${T}' and at_seq = 8`);

  test("fails with another key's signature", async () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const privateKeyPem = privateKey.export({ format: "pem", type: "pkcs8" }).toString();
    const other = await auditSigner(log.store, { privateKeyPem });
    const root = (await verify()).checkpoints[1]?.merkleRoot ?? "";
    await forge(`signature = '${other.sign(root)}'`);
    expect(await verify()).toMatchObject({ chainValid: false, checkpointsValid: false, anomalies: [] });
    expect(await verify(0, 7)).toMatchObject({ chainValid: true, checkpointsValid: true });
    expect(await verify(9, 10)).toMatchObject({ chainValid: true, checkpointsValid: true });
  });

  test("fails with another root, also one that is properly signed", async () => {
    const root = sha256("another root");
    await forge(`merkle_root = '${root}'`);
    expect(await verify()).toMatchObject({ chainValid: false, checkpointsValid: false });
    await forge(`merkle_root = '${root}', signature = '${log.signer.sign(root)}'`);
    expect(await verify()).toMatchObject({ chainValid: false, checkpointsValid: false });
  });

  test("fails when it covers other entries than those since the one before", async () => {
    await forge("prev_seq = 6");
    expect(await verify()).toMatchObject({ chainValid: false, checkpointsValid: false });
    expect(await verify(5, 8)).toMatchObject({ chainValid: false, checkpointsValid: false });
  });

  test("fails when one was taken out of the series", async () => {
    await tamper(path, `delete from audit_checkpoints where tenant = '${T}' and at_seq = 4`);
    expect(await verify()).toMatchObject({ chainValid: false, checkpointsValid: false, anomalies: [] });
    expect(await verify(5, 8)).toMatchObject({ chainValid: false, checkpointsValid: false });
  });
});

describe("the tables of the audit log", () => {
  test("refuse to be changed, emptied or overwritten", async () => {
    const untouched = join(tempDir(), "assay.db");
    const { store, signer, checkpointer } = await auditLogOn(await openSqliteStore({ path: untouched }));
    await record(store, T, 10);
    await checkpointer.checkpointTenant(T);
    const db = await openForWriting(untouched);
    const refusals = [
      "update audit_log set actor = 'x'",
      "delete from audit_log",
      "insert or replace into audit_log select * from audit_log where seq = 1",
      "update audit_checkpoints set signature = 'x'",
      "delete from audit_checkpoints",
    ];
    for (const statement of refusals) expect(() => db.exec(statement)).toThrow("refuses");
    db.close();
    expect(await verifyAudit(store, signer, T, 0, 100)).toMatchObject({ chainValid: true });
    expect(await checkpointsOf(store, T)).toHaveLength(3);
    await store.close();
  });
});

test("another tenant's entries are no part of the walk", async () => {
  const other = newTenant();
  await record(log.store, other, 3);
  await tamper(path, `update audit_log set actor = 'x' where tenant = '${other}'`);
  expect(await verify()).toMatchObject({ chainValid: true });
  expect(await verifyAudit(log.store, log.signer, other, 0, 10)).toMatchObject({ chainValid: false });
});
