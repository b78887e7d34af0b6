import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CreateKeyRequest } from "../../protocol/identity/api.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { ADA } from "../../testing/engine.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { accept } from "../../testing/store-contract/subject.ts";
import { createKey, type KeyHost, revokeKey } from "./keys.ts";

const T = "acme";
let store: Store;
let host: KeyHost;

beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
  host = hostAt(store);
});
afterEach(() => store.close());

const owner: Caller = { ...ADA, tenant: T, principal: "olga" };
const as = (more: Partial<Caller>): Caller => ({ ...owner, principal: "adam", keyId: "key-adam", ...more });
const create = (request: CreateKeyRequest, caller = owner) => createKey(host, caller, request);
const revoke = (keyId: string, caller: Caller) => revokeKey(host, { caller, keyId, record: () => undefined });
const rolesOf = async (principal: string) => (await store.membershipOf({ tenant: T }, principal)).roles;
const audit = () => store.readAudit(T, 1, 1000, 1000);

describe("the groups of a principal", () => {
  const groupsOf = async (principal: string) =>
    (await store.listKeys({ tenant: T })).find((key) => key.principal === principal)?.groups;
  const clerk = as({ roles: ["clerk", "viewer"], groups: ["east"] });

  test("are those asked for, belong to all its keys, and stay when a key is made without any", async () => {
    const { info } = await create({ principal: "pat", groups: ["legal", "east", "legal"] });
    expect(info).toMatchObject({ roles: ["viewer"], groups: ["legal", "east"] });
    expect((await create({ principal: "pat" })).info.groups).toEqual(["legal", "east"]);
    expect((await create({ principal: "pat", roles: ["reviewer"] })).info.groups).toEqual(["legal", "east"]);
    await create({ principal: "pat", groups: [] });
    expect(await groupsOf("pat")).toEqual([]);
    expect((await audit())[0]?.details).toMatchObject({ groups: "legal east legal" });
  });

  test("change without the roles, which stay", async () => {
    await create({ principal: "pat", roles: ["reviewer"] });
    await create({ principal: "pat", workspace: "w1", roles: ["admin"] });
    expect((await create({ principal: "pat", groups: ["legal"] })).info.roles).toEqual(["reviewer"]);
    await create({ principal: "pat", workspace: "w1", groups: ["east"] });
    expect((await store.membershipOf({ tenant: T }, "pat")).roles).toEqual(["reviewer"]);
    expect((await store.membershipOf({ tenant: T, workspace: "w1" }, "pat")).roles).toEqual(["reviewer", "admin"]);
  });

  test("are handed out by owners and admins, and by those who are in them", async () => {
    await create({ principal: "pat", groups: ["east"] }, clerk);
    await expect(create({ principal: "sam", groups: ["legal"] }, clerk)).rejects.toMatchObject({ code: "forbidden" });
    await create({ principal: "sam", groups: ["legal"] }, as({ roles: ["admin"] }));
  });

  test("keep others from making or ending keys of a member, which would be a way to decide in its place", async () => {
    const { info } = await create({ principal: "pat", groups: ["legal"] });
    await expect(create({ principal: "pat" }, clerk)).rejects.toMatchObject({ code: "forbidden" });
    await expect(revoke(info.keyId, clerk)).rejects.toMatchObject({ code: "forbidden" });
    expect(await store.listKeys({ tenant: T })).toHaveLength(1);
  });
});

describe("somebody who has roles in a workspace but no key there", () => {
  test("gets none made by one who could not grant those roles", async () => {
    await create({ principal: "pat" });
    await accept(store, { tenant: T, roles: [{ tenant: T, workspace: "w1", principal: "pat", roles: ["admin"] }] });
    const bound = as({ roles: ["reviewer"], workspace: "w1" });
    await expect(create({ principal: "pat" }, bound)).rejects.toMatchObject({ code: "forbidden" });
  });
});

describe("the last owner of a tenant", () => {
  test("is not demoted by a new key either", async () => {
    await create({ principal: "olga", roles: ["owner"] });
    await expect(create({ principal: "olga", roles: ["viewer"] })).rejects.toMatchObject({ code: "forbidden" });
    await create({ principal: "olga", roles: ["viewer"], workspace: "w1" });
    expect(await rolesOf("olga")).toEqual(["owner"]);
  });
});
