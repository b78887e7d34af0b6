import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { accept, upTo } from "../../testing/store-contract/subject.ts";
import { type Authorizer, authorizer, roleTable } from "./roles.ts";

const T = "acme";
let store: Store;
let host: ReturnType<typeof hostAt>;
let gate: Authorizer;
let troubles: unknown[];

beforeEach(async () => {
  store = await openSqliteStore({ path: ":memory:" });
  host = hostAt(store);
  store = host.store;
  troubles = [];
  gate = authorizer(host, { onTrouble: (error) => troubles.push(error) });
});
afterEach(async () => {
  gate.close();
  await store.close();
});

const caller = (more: Partial<Caller> = {}): Caller => ({
  tenant: T,
  principal: "pat",
  kind: "user",
  keyId: "key-1",
  roles: ["viewer"],
  groups: [],
  keyScopes: ["*"],
  ...more,
});
const denials = () => store.readAudit(T, 1, 1000, 1000);
const define = (roles: Record<string, string[]>) => vi.spyOn(store, "customRoles").mockResolvedValue(roles);

describe("a request", () => {
  test("goes on when the key and a role grant its scope", async () => {
    await gate.authorize(caller(), "runs:read");
    await gate.authorize(caller({ roles: ["nobody", "owner"] }), "keys:manage");
    await gate.authorize(caller({ roles: ["owner"], keyScopes: ["audit:read"] }), "audit:read");
    expect(await denials()).toEqual([]);
  });

  test.each([
    ["the role", {}, "runs:create"],
    ["the role", { roles: [] }, "runs:read"],
    ["the role", { roles: ["toString", "__proto__"] }, "runs:read"],
    ["the key", { roles: ["owner"], keyScopes: ["runs:create"] }, "runs:read"],
    ["the key", { keyScopes: [] }, "runs:read"],
  ])("is denied, naming %s, and the denial is audited", async (missingFrom, more, scope) => {
    const denied = gate.authorize(caller(more), scope);
    await expect(denied).rejects.toMatchObject({ code: "forbidden", details: { scopeRequired: scope, missingFrom } });
    expect(await denials()).toMatchObject([
      {
        actor: "pat",
        action: "authorization.denied",
        target: scope,
        details: { scopeRequired: scope, missingFrom, keyId: "key-1" },
      },
    ]);
  });

  test("is denied all the same when the denial cannot be audited", async () => {
    vi.spyOn(store, "commit").mockRejectedValue(new AppError("unavailable", { reason: "away" }));
    await expect(gate.authorize(caller(), "runs:create")).rejects.toMatchObject({ code: "forbidden" });
    expect(troubles).toHaveLength(1);
  });
});

describe("a flood of denied requests", () => {
  test("leaves one entry per key and scope and minute", async () => {
    const deny = (keyId: string, scope: string) => gate.authorize(caller({ keyId }), scope).catch(() => {});
    await Promise.all(upTo(50).map(() => deny("key-1", "runs:create")));
    await deny("key-2", "runs:create");
    await deny("key-1", "runs:cancel");
    expect(await denials()).toHaveLength(3);
    host.pass(59_999);
    await deny("key-1", "runs:create");
    expect(await denials()).toHaveLength(3);
    host.pass(1);
    await deny("key-1", "runs:create");
    expect(await denials()).toHaveLength(4);
  });
});

describe("a role that a workspace defines", () => {
  test("grants what it says, beside the built-in ones, which it cannot redefine", async () => {
    define({ lead: ["runs:cancel"], viewer: ["*"] });
    const lead = caller({ workspace: "w1", roles: ["lead"] });
    await gate.authorize(lead, "runs:cancel");
    await expect(gate.authorize(lead, "runs:create")).rejects.toMatchObject({ code: "forbidden" });
    await expect(gate.authorize(caller({ roles: ["viewer", "lead"] }), "runs:create")).rejects.toThrow();
    expect(store.customRoles).toHaveBeenCalledWith(T, "w1");
    expect(await roleTable(host, { tenant: T })).toMatchObject({ lead: ["runs:cancel"], owner: ["*"] });
  });

  test("is looked up once per second at most, and again when roles change", async () => {
    const custom = define({ lead: ["runs:cancel"] });
    for (const _ of upTo(5)) await gate.authorize(caller({ roles: ["lead"] }), "runs:cancel");
    expect(custom).toHaveBeenCalledTimes(1);
    await accept(store, { tenant: T, roles: [{ tenant: T, principal: "pat", roles: ["lead"] }] });
    await gate.authorize(caller({ roles: ["lead"] }), "runs:cancel");
    expect(custom).toHaveBeenCalledTimes(2);
    host.pass(1000);
    await gate.authorize(caller({ roles: ["lead"] }), "runs:cancel");
    expect(custom).toHaveBeenCalledTimes(3);
  });

  test("is what it was made to be from the moment that is acknowledged, and nothing once it is removed", async () => {
    const lead = caller({ workspace: "w1", roles: ["lead"] });
    const denied = (scope: string) => expect(gate.authorize(lead, scope)).rejects.toMatchObject({ code: "forbidden" });
    await denied("runs:cancel");
    const put = (scopes: string[], more = {}) => ({ type: "put", role: "lead", scopes, ...more }) as const;
    await accept(store, { tenant: T, roleDefinitions: [put(["runs:cancel"])] });
    await gate.authorize(lead, "runs:cancel");
    await accept(store, { tenant: T, roleDefinitions: [put(["runs:create"], { workspace: "w1" })] });
    await denied("runs:cancel");
    await gate.authorize(lead, "runs:create");
    await accept(store, { tenant: T, roleDefinitions: [{ type: "delete", role: "lead", workspace: "w1" }] });
    await denied("runs:create");
    await accept(store, { tenant: T, roleDefinitions: [{ type: "delete", role: "lead" }] });
    await denied("runs:cancel");
  });

  test("grants nothing when it cannot be read", async () => {
    vi.spyOn(store, "customRoles").mockRejectedValue(new AppError("unavailable", { reason: "away" }));
    const lead = caller({ roles: ["lead", "viewer"] });
    await expect(gate.authorize(lead, "runs:cancel")).rejects.toMatchObject({ code: "forbidden" });
    expect(troubles).toHaveLength(1);
    await gate.authorize(lead, "runs:read");
  });

  test("is not asked about where the built-in ones decide", async () => {
    const custom = define({});
    await gate.authorize(caller({ roles: ["viewer"] }), "runs:read");
    await expect(gate.authorize(caller({ roles: ["viewer"] }), "runs:create")).rejects.toThrow();
    await expect(gate.authorize(caller({ roles: ["lead"], keyScopes: [] }), "runs:create")).rejects.toThrow();
    expect(custom).not.toHaveBeenCalled();
  });
});
