import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KeyFile, type KeyFileEntry } from "../../protocol/identity/api.ts";
import { parse } from "../../protocol/schema.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { auditLogOn, checkpointsOf } from "../../testing/audit-log.ts";
import { NOW } from "../../testing/builders.ts";
import { ADA } from "../../testing/engine.ts";
import { accept, upTo } from "../../testing/store-contract/subject.ts";
import { authenticator, hashOfKey } from "./authenticate.ts";
import { createKey, type KeyHost } from "./keys.ts";
import { bootstrapOwnerKey, seedKeys } from "./seed-keys.ts";

const T = "acme";
let store: Store;
let host: KeyHost;

beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
  const log = await auditLogOn(store);
  host = { ...log.host, checkpointer: log.checkpointer };
});
afterEach(() => store.close());

const entry = (more: Partial<KeyFileEntry> = {}): KeyFileEntry => ({
  key: "key-from-the-file-1",
  tenant: T,
  principal: "pat",
  ...more,
});
const seed = (...entries: KeyFileEntry[]) => seedKeys(host, parse(KeyFile, entries, "file"));
const find = (key = "key-from-the-file-1") => store.findKey(hashOfKey(key));
const actions = async (tenant = T) => (await store.readAudit(tenant, 1, 1000, 1000)).map((each) => each.action);

describe("a key file", () => {
  test("names no new principal as the host names itself; a key that is there already keeps working", async () => {
    const taken = entry({ key: "key-of-another-file", principal: "System" });
    await expect(seed(entry(), taken)).rejects.toMatchObject({ code: "validation_error" });
    expect(await find()).toBeUndefined();
    const hash = hashOfKey(taken.key);
    const old = { keyId: "key-old", hash, tenant: T, principal: "System", scopes: ["*"], createdAtMs: NOW } as const;
    await accept(store, { tenant: T, keys: [{ type: "put", key: { ...old, kind: "user" } }] });
    await seed(entry(), taken);
    expect(await authenticator(host).authenticate(`Bearer ${taken.key}`)).toMatchObject({ principal: "System" });
  });

  test.each([
    ["principal", { principal: "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789" }],
    ["group", { groups: ["token=sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"] }],
    ["role", { roles: ["sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"] }],
  ])(
    "with a %s whose name looks like a secret is refused as a whole, and the name is not repeated",
    async (_, more) => {
      const refused = await seed(entry({ key: "key-of-another-entry" }), entry(more)).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: "validation_error" });
      expect(JSON.stringify(refused) + String(refused)).not.toContain("sk-proj");
      expect(await find("key-of-another-entry")).toBeUndefined();
      expect(await find()).toBeUndefined();
    },
  );

  test("has labels that are stored without the secrets in them", async () => {
    await seed(entry({ label: "for CI, sk-proj-abcdefghijklmnopqrstuvwxyz0123456789" }));
    expect(await find()).toMatchObject({ label: "for CI, [REDACTED]" });
  });

  test("lets its principals in, with what it says", async () => {
    const all = { workspace: "w1", kind: "agent", roles: ["reviewer"], scopes: ["runs:read"], label: "ci" } as const;
    await seed(entry({ ...all, roles: ["reviewer"], scopes: ["runs:read"] }));
    const auth = authenticator(host);
    expect(await auth.authenticate("Bearer key-from-the-file-1")).toMatchObject({
      tenant: T,
      workspace: "w1",
      principal: "pat",
      kind: "agent",
      roles: ["reviewer"],
      keyScopes: ["runs:read"],
    });
    await auth.close();
    expect(await find()).toMatchObject({ label: "ci" });
  });

  test("grants no role by default, but every scope", async () => {
    await seed(entry());
    expect(await find()).toMatchObject({ kind: "user", roles: [], scopes: ["*"] });
  });

  test("adds up the roles of entries for the same principal in the same place", async () => {
    await seed(
      entry({ roles: ["viewer"] }),
      entry({ key: "key-from-the-file-2", roles: ["reviewer", "viewer"] }),
      entry({ key: "key-from-the-file-3", roles: ["admin"], workspace: "w1" }),
      entry({ key: "key-from-the-file-4", roles: ["owner"], tenant: "other" }),
    );
    expect((await find("key-from-the-file-1"))?.roles).toEqual(["viewer", "reviewer"]);
    expect((await find("key-from-the-file-2"))?.roles).toEqual(["viewer", "reviewer"]);
    expect([...((await find("key-from-the-file-3"))?.roles ?? [])].sort()).toEqual(["admin", "reviewer", "viewer"]);
    expect((await find("key-from-the-file-4"))?.roles).toEqual(["owner"]);
  });

  test("puts its principals into groups, those of entries for the same place added up, and no others", async () => {
    const second = entry({ key: "key-from-the-file-2", groups: ["east"] });
    await seed(entry({ groups: ["legal"] }), second);
    expect((await find())?.groups).toEqual(["legal", "east"]);
    await accept(store, { tenant: T, roles: [{ tenant: T, principal: "pat", roles: [], groups: ["ops"] }] });
    await seed(entry({ groups: ["legal"] }), second);
    expect((await find())?.groups).toEqual(["legal", "east"]);
    await seed(entry());
    expect((await find())?.groups).toEqual([]);
    const noted = await store.readAudit(T, 1, 1000, 1000);
    expect(noted[0]?.details).toMatchObject({ groups: "legal east" });
    expect(noted.at(-1)?.action).toBe("key.changed");
  });

  test("begins every tenant's audit log with an entry and a checkpoint", async () => {
    await seed(...upTo(450).map((n) => entry({ key: `key-from-the-file-${n}`, tenant: `t${n % 3}` })));
    for (const tenant of ["t0", "t1", "t2"]) {
      expect(await actions(tenant)).toHaveLength(150);
      expect((await checkpointsOf(store, tenant)).at(-1)).toEqual([148, 150]);
    }
  });

  test("read again changes nothing and adds nothing to the log", async () => {
    const file = [entry({ roles: ["viewer"] }), entry({ key: "key-from-the-file-2", workspace: "w1", label: "x" })];
    await seed(...file);
    const before = await find();
    await seed(...file);
    expect(await find()).toEqual(before);
    expect(await actions()).toEqual(["key.created", "key.created"]);
  });

  test("holds again at each start: a revocation is lifted, changed roles are as they were", async () => {
    await seed(entry({ roles: ["reviewer"] }));
    const keyId = (await find())?.keyId ?? "";
    await accept(store, {
      tenant: T,
      keys: [{ type: "revoke", keyId, atMs: NOW }],
      roles: [{ tenant: T, principal: "pat", roles: ["owner"] }],
    });
    await seed(entry({ roles: ["reviewer"] }));
    expect(await find()).toMatchObject({ keyId, roles: ["reviewer"] });
    expect(await find()).not.toHaveProperty("revokedAtMs");
    expect(await actions()).toEqual(["key.created", "key.changed"]);
  });

  test("follows its own changes", async () => {
    await seed(entry({ roles: ["viewer"] }));
    const { keyId } = (await find()) ?? {};
    const expiresAt = "2027-01-01T00:00:00Z";
    await seed(entry({ roles: ["reviewer"], scopes: ["runs:read"], expiresAt }));
    expect(await find()).toMatchObject({ keyId, roles: ["reviewer"], scopes: ["runs:read"] });
    expect((await find())?.expiresAtMs).toBe(Date.parse(expiresAt));
    await seed(entry({ tenant: "other" }));
    expect(await find()).toMatchObject({ keyId, tenant: "other", roles: [] });
    expect(await actions("other")).toEqual(["key.created"]);
  });

  test("is refused as a whole when it gives one key twice or an instant that is none, without quoting the key", async () => {
    const twice = seed(entry(), entry({ key: "key-from-the-file-2" }), entry({ principal: "sam" }));
    await expect(twice).rejects.toMatchObject({ code: "validation_error" });
    await expect(twice).rejects.toThrow("entries 0 and 2");
    await expect(twice).rejects.not.toThrow("key-from-the-file");
    const never = entry({ key: "key-from-the-file-2", expiresAt: "2027-02-30T00:00:00Z" });
    await expect(seed(entry(), never)).rejects.toMatchObject({
      code: "validation_error",
    });
    expect(await store.hasKeys()).toBe(false);
  });
});

describe("the first start", () => {
  test("makes an owner's key, and begins the log with an entry and a checkpoint", async () => {
    const key = await bootstrapOwnerKey(host);
    const auth = authenticator(host);
    expect(await auth.authenticate(`Bearer ${key}`)).toMatchObject({
      tenant: "default",
      principal: "owner",
      kind: "user",
      roles: ["owner"],
      keyScopes: ["*"],
    });
    await auth.close();
    expect((await actions("default"))[0]).toBe("key.created");
    expect(await checkpointsOf(store, "default")).toEqual([[0, 1]]);
    expect(JSON.stringify(await store.readAudit("default", 1, 9, 9))).not.toContain(key);
  });

  test("is over once there is any key", async () => {
    await createKey(host, ADA, { principal: "pat" });
    expect(await bootstrapOwnerKey(host)).toBeUndefined();
    expect(await store.listKeys({ tenant: "default" })).toEqual([]);
  });

  test("gives the key to one of several that start at once", async () => {
    const keys = await Promise.all(upTo(5).map(() => bootstrapOwnerKey(host)));
    expect(keys.filter((key) => key !== undefined)).toHaveLength(1);
    expect(await store.listKeys({ tenant: "default" })).toHaveLength(1);
  });
});
