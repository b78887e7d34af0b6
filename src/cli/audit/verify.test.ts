import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { checkpointLine, entryLine, headerLine } from "../../engine/audit/export.ts";
import { asServed } from "../../engine/audit/verify.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { auditLogOn, record, tamper } from "../../testing/audit-log.ts";
import { KEYS, testHost } from "../../testing/host.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";

async function verify(...argv: readonly string[]): Promise<{ code: number; out: string }> {
  const io = recordedIo();
  const code = await main(["audit", "verify", ...argv], { io, env: {}, cwd: tempDir() });
  return { code, out: io.outText() };
}

const opened: Server[] = [];
afterEach(() => {
  for (const server of opened.splice(0)) server.close();
});

/** A server whose log should go on after its last entry: only ranges that reach the entries that are missing show it. */
async function cutOffAfter(last: number): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://host");
    const at = (name: string) => Number(searchParams.get(name));
    const missing = at("toSeq") > last ? [{ atSeq: last + 1, expectedPrevHash: "h", actualPrevHash: "" }] : [];
    const valid = { chainValid: missing.length === 0, checkpointsValid: true, checkpoints: [], anomalies: missing };
    const page = { entries: at("fromSeq") <= last ? [{ atSequence: last }] : [], checkpoints: [], publicKey: "k" };
    response.setHeader("content-type", "application/json");
    response.setHeader("connection", "close");
    response.end(JSON.stringify(pathname === "/v1/audit/verify" ? valid : page));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.each([19_998, 19_999, 20_000, 39_999])(
  "audit verify finds out that a log was cut off after entry %s",
  async (last) => {
    const url = await cutOffAfter(last);
    const found = await verify("--url", url, "--key", "key-of-the-test");
    expect(found).toMatchObject({ code: 1, out: expect.stringContaining(`Entry ${last + 1} should follow`) });
  },
);

test.each([
  ["10^12", "details"],
  ["10^12 that is no JSON", "'{'"],
])("audit verify comes to an end where an entry was put at %s", async (_, details) => {
  const path = join(tempDir(), "assay.db");
  const store = await openSqliteStore({ path });
  const host = await testHost({ store });
  const url = await host.listen();
  await host.ask("POST", "/v1/host/assay/roles", { json: { role: "lead", scopes: [] } });
  await tamper(
    path,
    `insert into audit_log select tenant, 1000000000000, occurred_at, actor, action, target, ${details}, prev_hash
     from audit_log where seq = 1`,
  );
  const found = await verify("--url", url, "--key", KEYS.owner.key);
  await host.close();
  await store.close();
  expect(found).toMatchObject({ code: 1, out: expect.stringContaining("NOT VALID") });
});

describe("audit verify --file", () => {
  /** Four entries that are signed and one that is not yet. */
  async function exported(keep: (line: string) => boolean = () => true): Promise<{ file: string; publicKey: string }> {
    const { store, signer, checkpointer } = await auditLogOn(await openSqliteStore({ path: ":memory:" }));
    await record(store, "acme", 4);
    await checkpointer.checkpointTenant("acme");
    await record(store, "acme", 1);
    const { publicKey } = signer;
    const lines = [
      headerLine({ tenant: "acme", publicKey, fromSeq: 1 }),
      ...(await store.readAudit("acme", 1, 5, 10)).map(entryLine),
      ...(await store.readCheckpoints("acme", 1, 5)).map(asServed).map(checkpointLine),
    ];
    await store.close();
    const file = join(tempDir(), "audit.jsonl");
    writeFileSync(file, `${lines.filter(keep).join("\n")}\n`);
    return { file, publicKey };
  }

  test("says which entries are not signed", async () => {
    const { file, publicKey } = await exported();
    const found = await verify("--file", file, "--public-key", publicKey);
    expect(found).toMatchObject({ code: 0, out: expect.stringContaining("Entries after 4 are not signed yet") });
  });

  test("takes nothing for the word of a key that signed none of it", async () => {
    const { file, publicKey } = await exported((line) => !line.includes('"kind":"checkpoint"'));
    const found = await verify("--file", file, "--public-key", publicKey);
    expect(found).toMatchObject({ code: 1, out: expect.stringContaining("No entry is signed") });
    const itself = await verify("--file", file);
    expect(itself).toMatchObject({ code: 0, out: expect.stringContaining("No entry is signed") });
  });
});
