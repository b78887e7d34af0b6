import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CreateKeyRequest, SetPrincipalRequest } from "../../protocol/identity/api.ts";
import { type Caller, OPERATOR_KEY_ID } from "../../protocol/identity/identity.ts";
import type { RoleBinding, Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { defineRole, removeRole } from "./define-role.ts";
import { createKey, type KeyHost, revokeKey } from "./keys.ts";
import { confirmPrincipal, setPrincipal } from "./principals.ts";

const T = "acme";
let store: Store;
let host: KeyHost;

beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
  host = hostAt(store);
  for (const { principal, roles, groups, workspace } of [olga, otto, adam, wanda]) {
    const place = workspace === undefined ? {} : { workspace };
    const binding: RoleBinding = { tenant: T, ...place, principal, roles: [...roles], groups: [...groups] };
    await store.commit({ tenant: T, roles: [binding] });
  }
});
afterEach(() => store.close());

function principal(name: string, roles: readonly string[], more: Partial<Caller> = {}): Caller {
  return {
    tenant: T,
    principal: name,
    kind: "user",
    keyId: `key-${name}`,
    roles,
    groups: [],
    keyScopes: ["*"],
    ...more,
  };
}

const olga = principal("olga", ["owner"]);
const otto = principal("otto", ["owner"]);
const adam = principal("adam", ["admin"], { groups: ["legal"] });
const wanda = principal("wanda", ["owner"], { workspace: "west" });

const record = () => undefined;
const make = (request: CreateKeyRequest, caller: Caller) => createKey(host, caller, request);
const set = (name: string, request: SetPrincipalRequest, caller = olga) =>
  setPrincipal(host, { caller, principal: name, request, record });
const confirm = (name: string, caller: Caller) => confirmPrincipal(host, { caller, principal: name, record });
const refused = (what: object) => ({ code: "forbidden", details: what });

describe("a principal whose key another principal made", () => {
  test.each<[string, (name: string) => Promise<unknown>]>([
    ["is changed", (name) => set(name, { roles: ["owner"] })],
    ["gets another key", (name) => make({ principal: name, roles: ["owner"] }, olga)],
    ["is changed in a workspace", (name) => set(name, { roles: ["owner"], workspace: "west" })],
  ])("gets no role that the maker may not hand on, when it %s", async (_, raise) => {
    const { info } = await make({ principal: "nora", roles: ["reviewer"] }, adam);
    await expect(raise("nora")).rejects.toMatchObject(refused({ maker: "adam", roleRequired: "owner" }));
    await revokeKey(host, { caller: olga, keyId: info.keyId, record });
    await make({ principal: "nora" }, olga);
    await raise("nora");
  });

  test.each(["key", "role"])(
    "gets no role above the maker's where both happen at once, the %s first",
    async (first) => {
      await make({ principal: "nora" }, olga);
      const changes = [() => make({ principal: "nora" }, adam), () => set("nora", { roles: ["owner"] })];
      if (first === "role") changes.reverse();
      const both = await Promise.allSettled(changes.map((change) => change()));
      expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    },
  );

  test("gets nothing from a key that was revoked, or lost its role, while others had their turn", async () => {
    const made = await make({ principal: "evan", roles: ["admin"] }, olga);
    const evan = principal("evan", ["admin"], { keyId: made.info.keyId });
    const late = (name: string) => Promise.allSettled([set("adam", { groups: [] }), make({ principal: name }, evan)]);
    const lower = set("evan", { roles: ["viewer"] });
    expect((await late("nora"))[1]).toMatchObject({ reason: { code: "forbidden" } });
    await lower;
    await revokeKey(host, { caller: olga, keyId: evan.keyId, record });
    expect((await late("nils"))[1]).toMatchObject({ reason: { code: "key_revoked" } });
  });

  test("gets the role once an owner has confirmed it", async () => {
    await make({ principal: "nora" }, adam);
    await confirm("nora", otto);
    expect((await set("nora", { roles: ["owner"] })).roles).toEqual(["owner"]);
  });

  test("gets a role that the maker may hand on, and loses any", async () => {
    await make({ principal: "nora", roles: ["reviewer"] }, adam);
    await defineRole(host, { caller: olga, request: { role: "lead", scopes: [] }, record });
    await set("nora", { roles: ["admin", "lead"], groups: ["night"] });
    await store.commit({ tenant: T, roles: [{ tenant: T, principal: "adam", roles: ["viewer"], groups: [] }] });
    await expect(set("nora", { roles: ["owner"] })).rejects.toMatchObject(refused({ maker: "adam" }));
    expect((await set("nora", { roles: ["reviewer"], groups: [] })).roles).toEqual(["reviewer"]);
    await expect(set("nora", { roles: ["admin"] })).rejects.toMatchObject(refused({ maker: "adam" }));
    await expect(set("nora", { groups: ["night"] })).rejects.toMatchObject(refused({ maker: "adam" }));
  });

  test("is measured where its key works: in a workspace by what the maker is there", async () => {
    await make({ principal: "nora", roles: ["viewer"] }, wanda);
    await make({ principal: "nora", roles: ["viewer"] }, olga);
    expect((await set("nora", { roles: ["owner"] })).roles).toContain("owner");
    await make({ principal: "nils", roles: ["viewer"] }, wanda);
    await defineRole(host, { caller: olga, request: { role: "keys", scopes: ["keys:manage"] }, record });
    const kim = principal("kim", ["keys", "viewer"]);
    await store.commit({ tenant: T, roles: [{ tenant: T, principal: "kim", roles: ["keys", "viewer"] }] });
    await make({ principal: "nils", roles: ["viewer"] }, kim);
    const raise = set("nils", { roles: ["reviewer"], workspace: "west" });
    await expect(raise).rejects.toMatchObject(refused({ maker: "kim", roleRequired: "reviewer" }));
  });

  test("is raised by the operator, and by its maker as far as that may", async () => {
    await make({ principal: "nora" }, adam);
    expect((await set("nora", { roles: ["admin"] }, adam)).roles).toEqual(["admin"]);
    const operator = { ...olga, principal: "operator", keyId: OPERATOR_KEY_ID };
    expect((await set("nora", { roles: ["owner"] }, operator)).roles).toEqual(["owner"]);
  });
});

describe("a scope that only owners give", () => {
  const RELAY = "approvals:relay";
  const scopes = ["*", RELAY];
  const relaying = principal("adam", ["admin"], { keyScopes: scopes });

  beforeEach(async () => {
    await defineRole(host, { caller: olga, request: { role: "relayer", scopes: [RELAY] }, record });
  });

  test.each<[string, () => Promise<unknown>]>([
    [
      "a role of its own",
      () => defineRole(host, { caller: relaying, request: { role: "mine", scopes: [RELAY] }, record }),
    ],
    ["a role that there is", () => make({ principal: "desk", roles: ["relayer"] }, relaying)],
    ["a key", () => make({ principal: "desk", scopes: [RELAY] }, relaying)],
  ])("is not given with %s by one who has it in the key alone", async (_, give) => {
    await expect(give()).rejects.toMatchObject(refused({ scopeRequired: RELAY, missingFrom: "the role" }));
  });

  test("is left out of keys that such a principal makes, and handed on by one who has it", async () => {
    expect((await make({ principal: "desk" }, relaying)).info.scopes).toEqual(["*"]);
    const whole = { ...relaying, roles: ["admin", "relayer"] };
    expect((await make({ principal: "desk2", roles: ["relayer"] }, whole)).info.scopes).toEqual(scopes);
  });
});

test("a workspace's own definition of a role is removed by one who has what the tenant's grants", async () => {
  await defineRole(host, { caller: olga, request: { role: "ops", scopes: ["keys:manage", "runs:delete"] }, record });
  await defineRole(host, {
    caller: olga,
    request: { role: "ops", scopes: ["keys:manage"], workspace: "west" },
    record,
  });
  const wim = principal("wim", ["ops"], { workspace: "west" });
  const missing = refused({ scopeRequired: "runs:delete", missingFrom: "the role" });
  await expect(removeRole(host, wim, "ops")).rejects.toMatchObject(missing);
  await removeRole(host, wanda, "ops");
});
