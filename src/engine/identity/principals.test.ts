import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ListPrincipalsResponse, PrincipalInfo, type SetPrincipalRequest } from "../../protocol/identity/api.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { parse } from "../../protocol/schema.ts";
import type { RoleBinding, Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { idempotencyOutcome, type NewKey, NOW, newKey } from "../../testing/builders.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { accept } from "../../testing/store-contract/subject.ts";
import { RecordedOutcome } from "../shared/once-only.ts";
import type { KeyHost } from "./keys.ts";
import { listPrincipals, setPrincipal } from "./principals.ts";

const T = "acme";
let store: Store;
let host: KeyHost;

beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
  host = hostAt(store);
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
const admin: Caller = { ...owner, principal: "adam", keyId: "key-adam", roles: ["admin"] };

/** Somebody with a key, and what it is where the key is. */
async function given(principal: string, roles: string[], more: Partial<NewKey> = {}, groups: string[] = []) {
  const key = newKey(T, { principal, ...more });
  const place = key.workspace === undefined ? {} : { workspace: key.workspace };
  const binding: RoleBinding = { tenant: key.tenant, ...place, principal, roles, groups };
  await accept(store, { tenant: key.tenant, keys: [{ type: "put", key }], roles: [binding] });
  return key;
}
const set = async (principal: string, request: SetPrincipalRequest, caller = owner) =>
  parse(PrincipalInfo, await setPrincipal(host, { caller, principal, request, record: () => undefined }), "principal");
const list = async (caller = owner, workspace?: string) =>
  parse(ListPrincipalsResponse, await listPrincipals(host, caller, workspace), "list").principals;
const is = (principal: string, workspace?: string) =>
  store.membershipOf({ tenant: T, ...(workspace === undefined ? {} : { workspace }) }, principal);
const audit = () => store.readAudit(T, 1, 1000, 1000);

describe("the principals of a tenant", () => {
  beforeEach(async () => {
    await given("pat", ["viewer"], {}, ["legal"]);
    await given("pat", ["reviewer"], { workspace: "east" }, ["night"]);
    await given("bot", [], { workspace: "west", kind: "agent" });
    await given("eve", ["owner"], { tenant: "other" });
  });

  test("are those who have keys, each once, with all that its keys have", async () => {
    const [bot, pat, ...rest] = await list();
    expect(rest).toEqual([]);
    expect(bot).toEqual({ principal: "bot", kind: "agent", workspaces: ["west"], roles: [], groups: [] });
    expect(pat).toMatchObject({ principal: "pat", kind: "user", workspaces: ["east"] });
    expect([...(pat?.roles ?? [])].sort()).toEqual(["reviewer", "viewer"]);
    expect([...(pat?.groups ?? [])].sort()).toEqual(["legal", "night"]);
  });

  test("are, for one workspace, those whose keys work there, with what holds there", async () => {
    await set("pat", { roles: ["admin"], workspace: "west" });
    const west = await list(owner, "west");
    expect(west.map(({ principal }) => principal)).toEqual(["bot", "pat"]);
    expect(west[1]).toMatchObject({ roles: ["viewer", "admin"], groups: ["legal"] });
  });

  test("are, to a key bound to a workspace, those with keys there", async () => {
    const bound = { ...owner, workspace: "west" };
    expect((await list(bound)).map(({ principal }) => principal)).toEqual(["bot"]);
    await expect(list(bound, "east")).rejects.toMatchObject({ code: "validation_error" });
  });
});

describe("a principal", () => {
  test("gets other roles and groups, with an entry in the log that says what it had", async () => {
    await given("pat", ["viewer"], {}, ["east"]);
    const after = await set("pat", { roles: ["reviewer", "reviewer"], groups: ["legal"] });
    expect(after).toMatchObject({ principal: "pat", roles: ["reviewer"], groups: ["legal"] });
    expect(await is("pat")).toEqual({ roles: ["reviewer"], groups: ["legal"] });
    expect((await audit()).at(-1)).toMatchObject({
      actor: "olga",
      action: "principal.changed",
      target: "pat",
      details: { rolesBefore: "viewer", groups: "legal", groupsBefore: "east", keyId: "key-olga" },
    });
  });

  test("keeps what is left out, and loses what is empty", async () => {
    await given("pat", ["viewer"], {}, ["legal"]);
    expect(await set("pat", { roles: ["reviewer"] })).toMatchObject({ roles: ["reviewer"], groups: ["legal"] });
    expect(await set("pat", { groups: [] })).toMatchObject({ roles: ["reviewer"], groups: [] });
    await set("pat", { roles: [] });
    expect(await is("pat")).toEqual({ roles: [], groups: [] });
    await expect(set("pat", {})).rejects.toMatchObject({ code: "validation_error" });
  });

  test("is in a workspace what it is made there, beside what it is tenant-wide", async () => {
    await given("pat", ["viewer"], {}, ["legal"]);
    const after = await set("pat", { roles: ["reviewer"], groups: ["night"], workspace: "east" });
    expect(after).toMatchObject({ roles: ["viewer", "reviewer"], groups: ["legal", "night"] });
    expect(await is("pat")).toEqual({ roles: ["viewer"], groups: ["legal"] });
    expect((await is("pat", "west")).roles).toEqual(["viewer"]);
    await set("pat", { groups: [], workspace: "east" });
    expect((await is("pat", "east")).roles).toEqual(["viewer", "reviewer"]);
  });

  test("gets no role that nobody defined", async () => {
    await given("pat", ["viewer"]);
    await expect(set("pat", { roles: ["boss"] })).rejects.toMatchObject({ code: "validation_error" });
    await accept(store, { tenant: T, roleDefinitions: [{ type: "put", role: "boss", scopes: [] }] });
    expect(await set("pat", { roles: ["boss"] })).toMatchObject({ roles: ["boss"] });
  });

  test("is not found without a key that works there, or in another tenant or workspace", async () => {
    await given("pat", ["viewer"], { workspace: "east" });
    const roles = ["reviewer"];
    const notFound = { code: "not_found" };
    await expect(set("nobody", { roles })).rejects.toMatchObject(notFound);
    await expect(set("pat", { roles })).rejects.toMatchObject(notFound);
    await expect(set("pat", { roles, workspace: "west" })).rejects.toMatchObject(notFound);
    await expect(set("pat", { roles }, { ...owner, tenant: "other" })).rejects.toMatchObject(notFound);
    await expect(set("pat", { roles }, { ...owner, workspace: "west" })).rejects.toMatchObject(notFound);
    expect(await set("pat", { roles }, { ...owner, workspace: "east" })).toMatchObject({ roles });
  });

  test("is changed in one unit with the request's outcome", async () => {
    await given("pat", ["viewer"]);
    const command = { caller: owner, principal: "pat", request: { roles: [] }, record: () => idempotencyOutcome(T) };
    await setPrincipal(host, command);
    expect(await store.readIdempotency(idempotencyOutcome(T), NOW)).toMatchObject({ state: "completed" });
    await expect(setPrincipal(host, command)).rejects.toBeInstanceOf(RecordedOutcome);
    expect(await audit()).toHaveLength(1);
  });
});

describe("a caller", () => {
  const forbidden = { code: "forbidden" };

  test("changes nobody above itself, in no way", async () => {
    await given("boss", ["owner"]);
    await given("other", ["owner"]);
    for (const request of [{ roles: ["viewer"] }, { groups: [] }, { roles: ["viewer"], workspace: "east" }]) {
      await expect(set("boss", request, admin)).rejects.toMatchObject(forbidden);
    }
    expect(await is("boss")).toEqual({ roles: ["owner"], groups: [] });
    expect(await audit()).toEqual([]);
  });

  test("gives no role above its own, to itself least of all", async () => {
    await given("adam", ["admin"]);
    await expect(set("adam", { roles: ["owner"] }, admin)).rejects.toMatchObject(forbidden);
    expect(await set("adam", { roles: ["reviewer"] }, admin)).toMatchObject({ roles: ["reviewer"] });
  });

  test("gives no role that grants more than its key allows", async () => {
    await given("pat", ["viewer"]);
    const narrow = { ...owner, keyScopes: ["keys:manage"] };
    const refusal = { code: "forbidden", details: { missingFrom: "the key" } };
    await expect(set("pat", { roles: ["reviewer"] }, narrow)).rejects.toMatchObject(refusal);
    expect(await set("pat", { roles: [] }, narrow)).toMatchObject({ roles: [] });
  });

  test("changes the groups of others only where it is in them itself, unless it is an owner or admin", async () => {
    await given("pat", ["viewer"]);
    const clerk = { ...admin, roles: ["viewer"], groups: ["east"] };
    expect(await set("pat", { groups: ["east"] }, clerk)).toMatchObject({ groups: ["east"] });
    await expect(set("pat", { groups: ["legal"] }, clerk)).rejects.toMatchObject(forbidden);
    await set("pat", { groups: ["legal"] }, admin);
    await expect(set("pat", { groups: [] }, clerk)).rejects.toMatchObject(forbidden);
  });
});

describe("the last owner of a tenant", () => {
  const demoted = () => set("olga", { roles: ["admin"] });

  test("stays owner, until there is another who can act", async () => {
    await given("olga", ["owner"]);
    await given("eastern", ["owner"], { workspace: "east" });
    await given("late", ["owner"], { expiresAtMs: NOW });
    const gone = await given("gone", ["owner"]);
    await accept(store, { tenant: T, keys: [{ type: "revoke", keyId: gone.keyId, atMs: NOW }] });
    await given("eve", ["owner"], { tenant: "other" });
    await expect(demoted()).rejects.toMatchObject({ code: "forbidden" });
    expect((await is("olga")).roles).toEqual(["owner"]);
    await given("oscar", ["owner"]);
    expect(await demoted()).toMatchObject({ roles: ["admin"] });
  });

  test("is one of two who take each other away in the same moment", async () => {
    await given("olga", ["owner"]);
    await given("oscar", ["owner"]);
    const both = await Promise.allSettled([
      set("oscar", { roles: ["viewer"] }, { ...owner, principal: "olga" }),
      set("olga", { roles: ["viewer"] }, { ...owner, principal: "oscar" }),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(both).toContainEqual(expect.objectContaining({ reason: expect.objectContaining({ code: "forbidden" }) }));
    const left = [...(await is("olga")).roles, ...(await is("oscar")).roles].sort();
    expect(left).toEqual(["owner", "viewer"]);
  });

  test("may change its groups, further roles and what it is in a workspace", async () => {
    await given("olga", ["owner"]);
    await set("olga", { groups: ["legal"] });
    await set("olga", { roles: ["viewer"], workspace: "east" });
    expect(await set("olga", { roles: ["owner", "viewer"] })).toMatchObject({ roles: ["owner", "viewer"] });
  });
});
