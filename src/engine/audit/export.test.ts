import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { type AuditLog, auditLogOn, record } from "../../testing/audit-log.ts";
import { checkpointLine, entryLine, headerLine, verifyAuditCopy } from "./export.ts";
import { asServed } from "./verify.ts";

const T = "acme";
let log: AuditLog;

/** Ten entries with checkpoints after the fourth, the eighth and the tenth. */
beforeEach(async () => {
  log = await auditLogOn(await openSqliteStore({ path: ":memory:" }));
  await record(log.store, T, 10);
  await log.checkpointer.checkpointTenant(T);
});
afterEach(() => log.store.close());

/** A copy made page by page, as a client does it. */
async function copy({ fromSeq = 1, limit = 3, withHead = false } = {}): Promise<string[]> {
  const head = withHead ? await log.store.auditHead(T) : undefined;
  const known = head === undefined ? {} : { head };
  const lines = [headerLine({ tenant: T, publicKey: log.signer.publicKey, fromSeq, ...known })];
  for (let next = fromSeq; next <= 10; next += limit) lines.push(...(await page(log.store, next, next + limit - 1)));
  return lines;
}

async function page(store: Store, fromSeq: number, toSeq: number): Promise<string[]> {
  const entries = await store.readAudit(T, fromSeq, toSeq, 1000);
  const checkpoints = await store.readCheckpoints(T, fromSeq, toSeq);
  return [...entries.map(entryLine), ...checkpoints.map(asServed).map(checkpointLine)];
}

const kindsOf = (lines: readonly string[]) => lines.map((line) => (JSON.parse(line) as { kind: string }).kind);
const edit = (lines: readonly string[], text: string, by: string) => lines.map((line) => line.replace(text, by));

describe("a copy of an audit log", () => {
  test("verifies with nothing but itself, every checkpoint once, whatever the size of its pages", async () => {
    for (const limit of [1, 3, 4, 10, 100]) {
      const lines = await copy({ limit });
      expect(kindsOf(lines).filter((kind) => kind === "checkpoint")).toHaveLength(3);
      expect(await verifyAuditCopy(lines)).toEqual({
        tenant: T,
        publicKey: log.signer.publicKey,
        fromSeq: 1,
        toSeq: 10,
        chainValid: true,
        checkpointsValid: true,
        checkpoints: 3,
        signatureOnly: 0,
        signedThrough: 10,
        anomalies: [],
      });
    }
  });

  test("says up to where it is signed, which is nowhere when its checkpoints were left out or their first entries are not there", async () => {
    const lines = await copy();
    const without = lines.filter((line) => !line.includes('"kind":"checkpoint"'));
    expect(await verifyAuditCopy(without)).toMatchObject({ chainValid: true, signedThrough: 0 });
    const first = (await copy({ fromSeq: 2, limit: 3 })).filter((line) => !/"atSequence":([5-9]|10)\b/.test(line));
    expect(await verifyAuditCopy(first)).toMatchObject({ chainValid: true, signatureOnly: 1, signedThrough: 0 });
    await record(log.store, T, 1);
    const tail = (await log.store.readAudit(T, 11, 11, 1)).map(entryLine);
    expect(await verifyAuditCopy([...lines, ...tail])).toMatchObject({
      chainValid: true,
      toSeq: 11,
      signedThrough: 10,
    });
  });

  test("verifies with its checkpoints before or after all entries, and with empty lines", async () => {
    const [header = "", ...rest] = await copy();
    const entries = rest.filter((line) => line.includes('"kind":"entry"'));
    const checkpoints = rest.filter((line) => line.includes('"kind":"checkpoint"'));
    for (const lines of [
      [header, ...checkpoints, ...entries],
      [header, ...entries, "", ...checkpoints, ""],
    ]) {
      expect(await verifyAuditCopy(lines)).toMatchObject({ chainValid: true, checkpointsValid: true });
    }
  });

  test("that begins later verifies as far as it goes and says so", async () => {
    const result = await verifyAuditCopy(await copy({ fromSeq: 6 }));
    expect(result).toMatchObject({ fromSeq: 6, toSeq: 10, chainValid: true, checkpoints: 2, signatureOnly: 1 });
  });

  test("of an empty log verifies", async () => {
    const header = headerLine({ tenant: T, publicKey: log.signer.publicKey, fromSeq: 1 });
    expect(await verifyAuditCopy([header])).toMatchObject({ fromSeq: 1, toSeq: 0, chainValid: true, checkpoints: 0 });
  });
});

describe("a copy that was tampered with", () => {
  test("shows a changed entry at the one after it", async () => {
    const result = await verifyAuditCopy(edit(await copy(), '"action":"deed.6"', '"action":"deed.x"'));
    expect(result).toMatchObject({ chainValid: false, checkpointsValid: false, anomalies: [{ atSeq: 7 }] });
  });

  test("shows removed, repeated and exchanged entries", async () => {
    const lines = await copy({ limit: 100 });
    const without = lines.filter((line) => !line.includes('"action":"deed.6"'));
    expect(await verifyAuditCopy(without)).toMatchObject({ chainValid: false, anomalies: [{ atSeq: 6 }] });
    const twice = lines.flatMap((line) => (line.includes('"action":"deed.6"') ? [line, line] : [line]));
    expect(await verifyAuditCopy(twice)).toMatchObject({ chainValid: false, anomalies: [{ atSeq: 6 }] });
    const [a = "", b = ""] = lines.slice(6, 8);
    const exchanged = lines.with(6, b).with(7, a);
    expect((await verifyAuditCopy(exchanged)).chainValid).toBe(false);
  });

  test("shows a missing beginning and a missing end", async () => {
    const lines = await copy({ withHead: true });
    const late = lines.filter((line) => !line.includes('"atSequence":1,'));
    expect(await verifyAuditCopy(late)).toMatchObject({ chainValid: false, anomalies: [{ atSeq: 1 }] });
    const short = lines.filter((line) => !line.includes('"atSequence":10'));
    expect(await verifyAuditCopy(short)).toMatchObject({ chainValid: false, anomalies: [{ atSeq: 10 }] });
    const uncovered = (await copy()).filter((line) => !line.includes('"action":"deed.10"'));
    expect(await verifyAuditCopy(uncovered)).toMatchObject({ chainValid: false, checkpointsValid: false });
  });

  test("shows a last entry that is not the one the log ended with", async () => {
    const lines = edit(await copy({ withHead: true }), '"action":"deed.10"', '"action":"deed.x"');
    const withoutCheckpoints = lines.filter((line) => !line.includes('"kind":"checkpoint"'));
    expect(await verifyAuditCopy(withoutCheckpoints)).toMatchObject({ chainValid: false, anomalies: [{ atSeq: 10 }] });
  });

  test("and signed anew with another key shows once the right key is given", async () => {
    const forger = await auditLogOn(await openSqliteStore({ path: ":memory:" }));
    await record(forger.store, T, 2);
    await forger.checkpointer.checkpointTenant(T);
    const header = headerLine({ tenant: T, publicKey: forger.signer.publicKey, fromSeq: 1 });
    const lines = [header, ...(await page(forger.store, 1, 2))];
    await forger.store.close();
    expect(await verifyAuditCopy(lines)).toMatchObject({ chainValid: true, publicKey: forger.signer.publicKey });
    const { publicKey } = log.signer;
    expect(await verifyAuditCopy(lines, { publicKey })).toMatchObject({ chainValid: false, checkpointsValid: false });
  });
});

describe("a text that is no copy of an audit log", () => {
  test.each([
    ["is missing", []],
    ["Line 1 is not JSON", ["{"]],
    ["Line 1 is not a header, an entry or a checkpoint", ["null"]],
    ["Line 1 is not valid", ['{"kind":"header"}']],
  ])("is refused: %s", async (problem, lines) => {
    const verifying = verifyAuditCopy(lines);
    await expect(verifying).rejects.toMatchObject({ code: "unusable_input" });
    await expect(verifying).rejects.toThrow(problem);
  });

  test("is refused without a header in front, with two of them, or with fields nobody knows", async () => {
    const [header = "", ...rest] = await copy();
    await expect(verifyAuditCopy(rest)).rejects.toThrow("Line 1 is not the header");
    await expect(verifyAuditCopy([header, header])).rejects.toThrow("Line 2 is a second header");
    const odd = edit([header, ...rest], '"kind":"entry"', '"kind":"entry","hash":"x"');
    await expect(verifyAuditCopy(odd)).rejects.toThrow("Line 2 is not valid");
  });
});
