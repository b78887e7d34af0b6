import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../src/testing/postgres.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { expectedSignature, WebhookReceiver } from "../../src/testing/webhook-receiver.ts";
import { assay, type Server, serve } from "./in-process.ts";

const KEY = "audit-test-key-of-the-owner-olga";
const OWNER = [{ key: KEY, tenant: "acme", principal: "olga", roles: ["owner"] }];
const REASON = "restored the backup of Monday";

describe("an audit log whose key is outside the database", () => {
  const databases: TestDatabase[] = [];
  beforeAll(async () => {
    databases.push(await createDatabase(), await createDatabase());
  });
  afterAll(async () => {
    for (const one of databases) await one.drop();
  });

  const folders = (): readonly (readonly string[])[] => [1, 2].map(() => ["--data", join(tempDir(), "data")]);
  const urls = (): readonly (readonly string[])[] => databases.map(({ url }) => ["--database-url", url]);

  /** A host on a database; it signs whatever is due at once, and all that is left when it stops. */
  const hostOn = async (folder: string, where: readonly string[]): Promise<Server> => {
    writeFileSync(join(folder, "keys.json"), JSON.stringify(OWNER));
    const keys = ["--keys", join(folder, "keys.json"), "--audit-key", join(folder, "audit.pem")];
    return serve([...where, ...keys, "--audit-checkpoint-entries", "3", "--log-level", "error"]);
  };
  const ask = (server: Server, ...args: string[]) => server.client(...args, "--key", KEY);
  const stop = async (server: Server): Promise<void> => {
    expect(await server.stop()).toBe(0);
  };
  const readyz = async ({ url }: Server): Promise<unknown> => (await fetch(`${url}/readyz`)).json();

  test.each([
    ["SQLite", folders],
    ["PostgreSQL", urls],
  ])("shows on %s that the database was rolled back, and is signed again when that is accepted", async (_, both) => {
    const [first = [], second = []] = both();
    const folder = tempDir();
    const pem = join(folder, "audit.pem");
    const made = await assay(["audit", "rotate-key", pem]);
    expect(made, made.stderr).toMatchObject({ code: 0 });
    expect(statSync(pem).mode & 0o077).toBe(0);

    const before = await hostOn(folder, first);
    for (const name of ["a", "b", "c", "d"]) {
      expect(await ask(before, "key", "create", "--principal", name, "--roles", "viewer")).toMatchObject({ code: 0 });
    }
    await stop(before);
    // Another key from here on: what the first signed still verifies.
    expect(await assay(["audit", "rotate-key", pem])).toMatchObject({ code: 0 });
    const again = await hostOn(folder, first);
    const copy = join(folder, "audit.jsonl");
    expect(await ask(again, "audit", "verify")).toMatchObject({ code: 0 });
    expect(await ask(again, "audit", "export", copy)).toMatchObject({ code: 0 });
    expect(await assay(["audit", "verify", "--file", copy])).toMatchObject({ code: 0 });
    const contained = await ask(again, "audit", "verify", "--against", copy);
    expect(contained).toMatchObject({ code: 0, stdout: expect.stringContaining("It contains all of") });
    expect(await readyz(again)).toEqual({ status: "ok" });
    await stop(again);
    expect(existsSync(`${pem}.anchors`)).toBe(true);

    // What a database looks like that was restored to a day before most of this: shorter, and with other entries.
    const restored = await hostOn(folder, second);
    await expect.poll(() => readyz(restored)).toEqual({ status: "ok", audit: "refused" });
    const found = await ask(restored, "audit", "verify", "--json");
    expect(found.code, found.stdout).toBe(1);
    expect(JSON.parse(found.stdout)).toMatchObject({ chainValid: false });
    const against = await ask(restored, "audit", "verify", "--against", copy);
    expect(against).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("is missing or different on the server"),
    });
    // Everything else works.
    expect(await ask(restored, "key", "list")).toMatchObject({ code: 0 });
    await stop(restored);
    expect(restored.stderr()).toContain("assay audit accept");

    const accept = ["audit", "accept", "--audit-key", pem, ...second];
    const shown = await assay(accept);
    expect(shown).toMatchObject({ code: 1, stdout: expect.stringContaining("acme: entry") });
    const accepted = await assay([...accept, "--reason", REASON]);
    expect(accepted, accepted.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("accepted  acme") });
    expect(await assay(accept)).toMatchObject({ code: 0, stdout: expect.stringContaining("nothing to accept") });
    const after = await hostOn(folder, second);
    expect(await ask(after, "audit", "verify")).toMatchObject({ code: 0 });
    expect(await readyz(after)).toEqual({ status: "ok" });
    const late = join(folder, "late.jsonl");
    expect(await ask(after, "audit", "export", late)).toMatchObject({ code: 0 });
    expect(await ask(after, "audit", "verify", "--against", late)).toMatchObject({ code: 0 });
    await stop(after);
  });

  test("is not compared with a file without a server and with one at the same time, nor accepted without its anchors", async () => {
    const both = await assay(["audit", "verify", "--file", "a", "--against", "b"]);
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("either --file") });
    const without = await assay(["audit", "accept", "--data", tempDir()]);
    expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining("--audit-key") });
  });
});

describe("a host with --audit-root-url", () => {
  const SECRET = "what-the-receiver-of-roots-knows";

  test("sends every root elsewhere, the last ones when it stops", async () => {
    const receiver = await WebhookReceiver.start();
    try {
      const folder = tempDir();
      writeFileSync(join(folder, "keys.json"), JSON.stringify(OWNER));
      const where = ["--data", join(folder, "data"), "--keys", join(folder, "keys.json"), "--log-level", "error"];
      const roots = ["--audit-root-url", receiver.url("/roots"), "--allow-private-webhooks"];
      const env = { ASSAY_AUDIT_ROOT_SECRET: SECRET };
      const server = await serve([...where, ...roots, "--audit-checkpoint-entries", "2"], { env });
      for (const name of ["a", "b", "c"]) {
        const made = await server.client("key", "create", "--principal", name, "--roles", "viewer", "--key", KEY);
        expect(made, made.stderr).toMatchObject({ code: 0 });
      }
      await receiver.got(1);
      const metrics = await (
        await fetch(`${server.url}/v1/host/assay/metrics`, { headers: { authorization: `Bearer ${KEY}` } })
      ).text();
      expect(metrics).toContain("assay_audit_roots_sent_total");
      expect(await server.stop()).toBe(0);
      const acme = receiver.received.map(({ body }) => JSON.parse(body)).filter(({ tenant }) => tenant === "acme");
      expect(acme.map(({ prevSequence }) => prevSequence)).toEqual(
        [0, ...acme.map((one) => one.atSequence)].slice(0, -1),
      );
      for (const one of receiver.received) {
        expect(one.headers["x-openwop-signature"]).toBe(expectedSignature(SECRET, one));
      }
      // What the receiver has reaches the end of the log: signing at the shutdown comes before the last message.
      const again = await serve([...where, "--audit-checkpoint-seconds", "86400"]);
      const verified = await again.client("audit", "export", join(folder, "copy.jsonl"), "--key", KEY);
      expect(verified, verified.stderr).toMatchObject({ code: 0 });
      const copy = readFileSync(join(folder, "copy.jsonl"), "utf8");
      for (const { merkleRoot } of acme) expect(copy).toContain(merkleRoot);
    } finally {
      await receiver.close();
    }
  });

  test.each([
    ["without a secret", ["--audit-root-url", "https://roots.example/a"], "ASSAY_AUDIT_ROOT_SECRET"],
    ["with plain HTTP", ["--audit-root-url", "http://roots.example/a"], "https://"],
    ["with a private address", ["--audit-root-url", "https://10.0.0.1/a"], "public"],
    ["with a password in the address", ["--audit-root-url", "https://u:hush@roots.example/a"], "user name"],
  ])("does not start %s", async (_, flags, reason) => {
    const env = reason === "ASSAY_AUDIT_ROOT_SECRET" ? {} : { ASSAY_AUDIT_ROOT_SECRET: SECRET };
    const refused = await assay(["serve", "--port", "0", "--data", join(tempDir(), "data"), ...flags], { env });
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(reason);
    expect(refused.stderr).not.toContain("hush");
  });
});
