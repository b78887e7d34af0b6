import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CreateKeyRequest, CreateKeyResponse, ListKeysResponse } from "../../protocol/identity/api.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { parse } from "../../protocol/schema.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { auditLogOn, checkpointsOf } from "../../testing/audit-log.ts";
import { idempotencyOutcome, NOW } from "../../testing/builders.ts";
import { accept } from "../../testing/store-contract/subject.ts";
import { RecordedOutcome } from "../shared/once-only.ts";
import { authenticator } from "./authenticate.ts";
import { createKey, type KeyHost, listKeys, revokeKey } from "./keys.ts";
import { setPrincipal } from "./principals.ts";

const T = "acme";
let store: Store;
let host: KeyHost;

beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
  const log = await auditLogOn(store);
  host = { ...log.host, checkpointer: log.checkpointer };
  store = host.store;
});
afterEach(() => store.close());

const owner: Caller = {
  tenant: T,
  principal: "olga",
  kind: "user",
  keyId: "key-olga",
  roles: ["owner"],
  groups: [],
  keyScopes: ["*"],
};
const as = (more: Partial<Caller>): Caller => ({ ...owner, principal: "adam", keyId: "key-adam", ...more });
const create = async (request: CreateKeyRequest, caller = owner) =>
  parse(CreateKeyResponse, await createKey(host, caller, request), "response");
const rolesOf = async (principal: string, workspace?: string) =>
  (await store.listKeys({ tenant: T })).find((key) => key.principal === principal && key.workspace === workspace)
    ?.roles;
const revoke = (keyId: string, caller = owner) => revokeKey(host, { caller, keyId, record: () => undefined });
const audit = () => store.readAudit(T, 1, 1000, 1000);

describe("a new key", () => {
  test("is long, random and recognisable, and lets its principal in", async () => {
    const [one, two] = await Promise.all([create({ principal: "pat" }), create({ principal: "pat" })]);
    for (const { key } of [one, two]) expect(key).toMatch(/^assay_[0-9A-Za-z]{40,}$/);
    expect(one.key).not.toBe(two.key);
    const auth = authenticator(host);
    expect(await auth.authenticate(`Bearer ${one.key}`)).toMatchObject({
      tenant: T,
      principal: "pat",
      keyId: one.info.keyId,
    });
    await auth.close();
  });

  test("is made and revoked without reading the keys of other principals", async () => {
    const read: (string | undefined)[] = [];
    const listKeys: Store["listKeys"] = (visible, page) => {
      read.push(undefined);
      return store.listKeys(visible, page);
    };
    const keysOf: Store["keysOf"] = (visible, principals) => {
      read.push(...principals);
      return store.keysOf(visible, principals);
    };
    const watching = { ...host, store: Object.assign(Object.create(store), { listKeys, keysOf }) as Store };
    const { info } = await createKey(watching, owner, { principal: "pat", roles: ["viewer"] });
    await setPrincipal(watching, {
      caller: owner,
      principal: "pat",
      request: { roles: ["reviewer"] },
      record: () => undefined,
    });
    await revokeKey(watching, { caller: owner, keyId: info.keyId, record: () => undefined });
    expect(new Set(read)).toEqual(new Set(["pat"]));
  });

  test("is for a viewer with every scope unless asked otherwise", async () => {
    const { info } = await create({ principal: "pat" });
    expect(info).toEqual({
      keyId: expect.stringMatching(/^key-/),
      tenant: T,
      principal: "pat",
      kind: "user",
      roles: ["viewer"],
      groups: [],
      scopes: ["*"],
      createdAt: new Date(NOW).toISOString(),
    });
  });

  test("is as it was asked for", async () => {
    const asked = {
      principal: "bot",
      kind: "agent" as const,
      workspace: "w1",
      roles: ["reviewer", "viewer", "reviewer"],
      scopes: ["runs:read", "runs:read"],
      label: "ci",
      expiresAt: "2027-03-01T14:00:00+01:00",
    };
    const { info } = await create(asked);
    const expiresAt = "2027-03-01T13:00:00.000Z";
    expect(info).toMatchObject({ ...asked, roles: ["reviewer", "viewer"], scopes: ["runs:read"], expiresAt });
  });

  test("is of a person only when a person makes it", async () => {
    const agent = as({ kind: "agent" });
    for (const principal of ["pat", "adam"]) {
      await expect(create({ principal, kind: "user" }, agent)).rejects.toMatchObject({ code: "forbidden" });
    }
    expect(await store.hasKeys()).toBe(false);
    expect((await create({ principal: "bot" }, agent)).info.kind).toBe("agent");
  });

  test("appears nowhere but in the answer", async () => {
    const { key, info } = await create({ principal: "pat", label: "ci" });
    const [entry] = await audit();
    expect(entry).toMatchObject({ actor: "olga", action: "key.created", target: info.keyId });
    expect(entry?.details).toEqual({
      principal: "pat",
      kind: "user",
      scopes: "*",
      roles: "viewer",
      keyId: "key-olga",
    });
    const { hash } = (await store.listKeys({ tenant: T }))[0] ?? {};
    const shown = JSON.stringify([await audit(), await listKeys(host, owner), info]);
    expect(shown).not.toContain(key);
    expect(shown).not.toContain(hash);
    expect(JSON.stringify(await store.listKeys({ tenant: T }))).not.toContain(key);
  });

  test("begins the tenant's audit log with an entry and a checkpoint", async () => {
    await create({ principal: "pat" });
    expect(await checkpointsOf(store, T)).toEqual([[0, 1]]);
    await create({ principal: "pat" });
    expect(await checkpointsOf(store, T)).toEqual([[0, 1]]);
  });

  test("is answered although the checkpoint failed", async () => {
    const checkpointTenant = () => Promise.reject(new Error("away"));
    if (host.checkpointer) host = { ...host, checkpointer: { ...host.checkpointer, checkpointTenant } };
    expect(await create({ principal: "pat" })).toMatchObject({ info: { principal: "pat" } });
  });

  test.each(["2027-03-01T12:00:00.000Z", "2020-01-01T00:00:00Z", "2030-02-30T00:00:00Z", "in the year 2030 or so"])(
    "is refused when it would expire at %s",
    async (expiresAt) => {
      await expect(create({ principal: "pat", expiresAt })).rejects.toMatchObject({ code: "validation_error" });
      expect(await store.hasKeys()).toBe(false);
    },
  );

  test("is refused with a role or scope that nobody knows", async () => {
    for (const wish of [{ roles: ["boss"] }, { roles: ["toString"] }, { scopes: ["runs:everything"] }]) {
      await expect(create({ principal: "pat", ...wish })).rejects.toMatchObject({ code: "validation_error" });
    }
    await accept(store, { tenant: T, roleDefinitions: [{ type: "put", role: "boss", scopes: ["runs:read"] }] });
    expect((await create({ principal: "pat", roles: ["boss"] })).info.roles).toEqual(["boss"]);
  });
});

describe("a caller", () => {
  test("cannot grant scopes that its own key lacks", async () => {
    const caller = as({ keyScopes: ["keys:manage", "runs:read"] });
    for (const scopes of [["*"], ["runs:read", "audit:read"]]) {
      await expect(create({ principal: "pat", scopes }, caller)).rejects.toMatchObject({
        code: "forbidden",
        details: { scopeRequired: scopes.at(-1), missingFrom: "the key" },
      });
    }
    expect((await create({ principal: "pat", scopes: ["runs:read"] }, caller)).info.scopes).toEqual(["runs:read"]);
    expect((await create({ principal: "sam" }, caller)).info.scopes).toEqual(["keys:manage", "runs:read"]);
  });

  test("cannot grant a role above its own", async () => {
    const admin = as({ roles: ["admin"] });
    await expect(create({ principal: "pat", roles: ["viewer", "owner"] }, admin)).rejects.toMatchObject({
      code: "forbidden",
      details: { roleRequired: "owner" },
    });
    expect((await create({ principal: "pat", roles: ["admin"] }, admin)).info.roles).toEqual(["admin"]);
    await expect(create({ principal: "sam", roles: ["reviewer"] }, as({ roles: ["viewer"] }))).rejects.toThrow();
  });

  test("cannot grant a workspace's own role without holding it, unless it is an owner or admin", async () => {
    const put = (role: string, scopes: string[]) => ({ type: "put", role, scopes }) as const;
    await accept(store, {
      tenant: T,
      roleDefinitions: [put("clerk", ["keys:manage"]), put("legal", ["runs:read"])],
    });
    const legal = { principal: "pat", roles: ["legal"] };
    await expect(create(legal, as({ roles: ["clerk"] }))).rejects.toMatchObject({ code: "forbidden" });
    await create(legal, as({ roles: ["clerk", "legal"] }));
    await create({ ...legal, principal: "sam" }, as({ roles: ["admin"] }));
  });

  test("bound to a workspace makes keys in that one only", async () => {
    const bound = as({ workspace: "w1" });
    expect((await create({ principal: "pat" }, bound)).info.workspace).toBe("w1");
    expect((await create({ principal: "sam", workspace: "w1" }, bound)).info.workspace).toBe("w1");
    await expect(create({ principal: "pat", workspace: "w2" }, bound)).rejects.toMatchObject({
      code: "validation_error",
    });
  });

  test("cannot get more by making a key for somebody above it", async () => {
    await create({ principal: "boss", roles: ["owner"] });
    const admin = as({ roles: ["admin"] });
    for (const wish of [{}, { roles: ["viewer"] }, { workspace: "w1" }]) {
      await expect(create({ principal: "boss", ...wish }, admin)).rejects.toMatchObject({ code: "forbidden" });
    }
    const bound = as({ roles: ["admin"], workspace: "w1" });
    await expect(create({ principal: "boss" }, bound)).rejects.toMatchObject({ code: "forbidden" });
    expect(await rolesOf("boss")).toEqual(["owner"]);
  });
});

describe("a caller whose key allows less than its roles", () => {
  const narrow = as({ roles: ["owner"], keyScopes: ["keys:manage", "runs:read"] });

  test("cannot give a role, and so more scopes, to a key that exists already", async () => {
    const refusal = { code: "forbidden", details: { missingFrom: "the key" } };
    await create({ principal: "pat" });
    await expect(create({ principal: "pat", roles: ["owner"] }, narrow)).rejects.toMatchObject(refusal);
    expect(await rolesOf("pat")).toEqual(["viewer"]);
    await create({ principal: "wim", workspace: "west" });
    await expect(create({ principal: "wim", roles: ["owner"] }, narrow)).rejects.toMatchObject(refusal);
    expect(await rolesOf("wim", "west")).toEqual(["viewer"]);
  });

  test("can make a key for somebody new, who gets no more than it has", async () => {
    const { info } = await create({ principal: "new", roles: ["reviewer"] }, narrow);
    expect(info).toMatchObject({ roles: ["reviewer"], scopes: ["keys:manage", "runs:read"] });
  });
});

describe("a principal that has roles already", () => {
  test("keeps them when a key is made without any", async () => {
    await create({ principal: "pat", roles: ["reviewer"] });
    expect((await create({ principal: "pat" })).info.roles).toEqual(["reviewer"]);
    expect((await create({ principal: "pat", workspace: "w1" })).info.roles).toEqual(["reviewer"]);
    expect(await rolesOf("pat")).toEqual(["reviewer"]);
  });

  test("keeps having none, if it was given none", async () => {
    await create({ principal: "pat" });
    await store.commit({ tenant: T, roles: [{ tenant: T, principal: "pat", roles: [] }] });
    expect((await create({ principal: "pat" })).info.roles).toEqual([]);
  });

  test("gets others, for all its keys, from one who may grant both", async () => {
    await store.commit({ tenant: T, roles: [{ tenant: T, principal: "olga", roles: ["owner"] }] });
    await create({ principal: "pat", roles: ["viewer"] });
    await create({ principal: "pat", roles: ["reviewer"] }, as({ roles: ["admin"] }));
    expect((await store.listKeys({ tenant: T })).map((key) => key.roles)).toEqual([["reviewer"], ["reviewer"]]);
    expect((await audit()).at(-1)?.details).toMatchObject({ principal: "pat", roles: "reviewer" });
  });

  test("does not have them in another workspace or tenant", async () => {
    await create({ principal: "pat", roles: ["admin"], workspace: "w1" });
    expect((await create({ principal: "pat", workspace: "w2" })).info.roles).toEqual(["viewer"]);
    expect(await rolesOf("pat", "w1")).toEqual(["admin"]);
    const elsewhere = as({ tenant: "other" });
    expect((await create({ principal: "pat", workspace: "w1" }, elsewhere)).info.roles).toEqual(["viewer"]);
  });
});

describe("the keys of a tenant", () => {
  test("are listed for those who see them", async () => {
    await create({ principal: "pat" });
    await create({ principal: "sam", workspace: "w1" });
    await create({ principal: "eve" }, as({ tenant: "other" }));
    const listed = async (caller: Caller) =>
      parse(ListKeysResponse, await listKeys(host, caller), "keys").keys.map((key) => key.principal);
    expect((await listed(owner)).sort()).toEqual(["pat", "sam"]);
    expect(await listed(as({ workspace: "w1" }))).toEqual(["sam"]);
    expect(await listed(as({ tenant: "other" }))).toEqual(["eve"]);
  });
});

describe("a key that is revoked", () => {
  test("has ended, with an entry in the log", async () => {
    const { key, info } = await create({ principal: "pat" });
    expect(await revoke(info.keyId)).toEqual({ ...info, revokedAt: new Date(NOW).toISOString() });
    const auth = authenticator(host);
    await expect(auth.authenticate(`Bearer ${key}`)).rejects.toMatchObject({ code: "key_revoked" });
    await auth.close();
    expect((await audit()).at(-1)).toMatchObject({ actor: "olga", action: "key.revoked", target: info.keyId });
  });

  test("may be the caller's own", async () => {
    const { info } = await create({ principal: "adam", roles: ["admin"] });
    expect(await revoke(info.keyId, as({ keyId: info.keyId }))).toHaveProperty("revokedAt");
  });

  test("is not that of somebody above the caller", async () => {
    const { info } = await create({ principal: "olga", roles: ["owner"] });
    await expect(revoke(info.keyId, as({ roles: ["admin"] }))).rejects.toMatchObject({ code: "forbidden" });
    expect(await revoke(info.keyId)).toMatchObject({ revokedAt: expect.any(String) });
  });

  test("stays revoked since the first time, without another entry", async () => {
    const { info } = await create({ principal: "pat" });
    const first = await revoke(info.keyId);
    host = { ...host, nowMs: () => NOW + 5000 };
    expect(await revoke(info.keyId)).toEqual(first);
    expect(await audit()).toHaveLength(2);
  });

  test("is not found by another tenant or from another workspace", async () => {
    const { info } = await create({ principal: "pat", workspace: "w1" });
    for (const caller of [as({ tenant: "other" }), as({ workspace: "w2" })]) {
      await expect(revoke(info.keyId, caller)).rejects.toMatchObject({ code: "not_found" });
    }
    await expect(revoke("key-none")).rejects.toMatchObject({ code: "not_found" });
    expect((await store.listKeys({ tenant: T }))[0]).not.toHaveProperty("revokedAtMs");
  });

  test("is revoked in one unit with the request's outcome, also when nothing was left to do", async () => {
    const { info } = await create({ principal: "pat" });
    const record = () => idempotencyOutcome(T);
    await revokeKey(host, { caller: owner, keyId: info.keyId, record });
    expect(await store.readIdempotency(idempotencyOutcome(T), NOW)).toMatchObject({ state: "completed" });
    const again = revokeKey(host, { caller: owner, keyId: info.keyId, record });
    await expect(again).rejects.toBeInstanceOf(RecordedOutcome);
    const other = () => idempotencyOutcome(T, { key: "k-2" });
    await revokeKey(host, { caller: owner, keyId: info.keyId, record: other });
    expect(await store.readIdempotency(other(), NOW)).toMatchObject({ state: "completed" });
    expect(await audit()).toHaveLength(2);
  });
});
