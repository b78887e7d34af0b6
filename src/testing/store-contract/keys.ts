import { describe, expect, test } from "vitest";
import type { KeyRecord } from "../../store/port/store.ts";
import { HOUR, NOW, newKey, newTenant, sha256 } from "../builders.ts";
import { accept, type Subject, upTo } from "./subject.ts";

export function keys(subject: Subject): void {
  describe("a key", () => {
    test("is found by its hash with everything that was said about it", async () => {
      const { store } = subject;
      const tenant = newTenant();
      expect(await store.hasKeys()).toBe(false);
      const key = newKey(tenant, {
        workspace: "w1",
        kind: "agent",
        scopes: ["runs:read", "runs:write"],
        label: "ci",
        expiresAtMs: NOW + HOUR,
      });
      await accept(store, { tenant, keys: [{ type: "put", key }] });
      expect(await store.findKey(key.hash)).toEqual({ ...key, roles: [], groups: [] });
      expect(await store.findKey(sha256("another key"))).toBeUndefined();
      expect(await store.hasKeys()).toBe(true);

      const plain = newKey(tenant);
      await accept(store, { tenant, keys: [{ type: "put", key: plain }] });
      expect(await store.findKey(plain.hash)).toEqual({ ...plain, roles: [], groups: [] });
    });

    test("has the roles of its principal in its workspace and those of the whole tenant", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const inW1 = newKey(tenant, { workspace: "w1" });
      const tenantWide = newKey(tenant);
      const someoneElse = newKey(tenant, { workspace: "w1", principal: "sam" });
      await accept(store, {
        tenant,
        keys: [inW1, tenantWide, someoneElse].map((key) => ({ type: "put", key })),
        roles: [
          { tenant, principal: "pat", roles: ["viewer"] },
          { tenant, workspace: "w1", principal: "pat", roles: ["reviewer", "lead"] },
          { tenant, workspace: "w2", principal: "pat", roles: ["owner"] },
          { tenant: newTenant(), workspace: "w1", principal: "pat", roles: ["admin"] },
        ],
      });
      const rolesOf = async (hash: string) => [...((await store.findKey(hash))?.roles ?? [])].sort();
      expect(await rolesOf(inW1.hash)).toEqual(["lead", "reviewer", "viewer"]);
      expect(await rolesOf(tenantWide.hash)).toEqual(["viewer"]);
      expect(await rolesOf(someoneElse.hash)).toEqual([]);

      // A binding replaces the one before.
      const binding = { tenant, workspace: "w1", principal: "pat", roles: ["lead"] };
      await accept(store, { tenant, roles: [binding] });
      expect(await rolesOf(inW1.hash)).toEqual(["lead", "viewer"]);
      await accept(store, { tenant, roles: [{ ...binding, roles: [] }] });
      expect(await rolesOf(inW1.hash)).toEqual(["viewer"]);
    });

    test("is found by its id by those who see it", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const [inW1, wide] = [newKey(tenant, { workspace: "w1" }), newKey(tenant)];
      await accept(store, {
        tenant,
        keys: [inW1, wide].map((key) => ({ type: "put", key })),
        roles: [
          { tenant, principal: "pat", roles: ["viewer"], groups: ["release"] },
          { tenant, workspace: "w1", principal: "pat", roles: ["lead"] },
        ],
      });
      expect(await store.readKey({ tenant }, inW1.keyId)).toEqual(await store.findKey(inW1.hash));
      expect(await store.readKey({ tenant, workspace: "w1" }, inW1.keyId)).toEqual(await store.findKey(inW1.hash));
      expect(await store.readKey({ tenant }, wide.keyId)).toEqual(await store.findKey(wide.hash));
      expect(await store.readKey({ tenant, workspace: "w1" }, wide.keyId)).toBeUndefined();
      expect(await store.readKey({ tenant, workspace: "w2" }, inW1.keyId)).toBeUndefined();
      expect(await store.readKey({ tenant: newTenant() }, inW1.keyId)).toBeUndefined();
      expect(await store.readKey({ tenant }, "key-none")).toBeUndefined();
    });

    test("names a role once that it has in both places", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const key = newKey(tenant, { workspace: "w1" });
      const binding = { tenant, principal: "pat", roles: ["viewer"] };
      const roles = [binding, { ...binding, workspace: "w1" }];
      await accept(store, { tenant, keys: [{ type: "put", key }], roles });
      expect((await store.findKey(key.hash))?.roles).toEqual(["viewer"]);
    });

    test("has the groups of its principal where it has the roles", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const [inW1, wide] = [newKey(tenant, { workspace: "w1" }), newKey(tenant)];
      await accept(store, {
        tenant,
        keys: [inW1, wide].map((key) => ({ type: "put", key })),
        roles: [
          { tenant, principal: "pat", roles: ["viewer"], groups: ["release"] },
          { tenant, workspace: "w1", principal: "pat", roles: [], groups: ["release", "legal"] },
          { tenant, workspace: "w2", principal: "pat", roles: [], groups: ["board"] },
        ],
      });
      const groupsOf = async (hash: string) => [...((await store.findKey(hash))?.groups ?? [])].sort();
      expect(await groupsOf(inW1.hash)).toEqual(["legal", "release"]);
      expect(await groupsOf(wide.hash)).toEqual(["release"]);
      const listed = await store.listKeys({ tenant, workspace: "w1" });
      expect(listed.map(({ groups }) => [...groups].sort())).toEqual([["legal", "release"]]);
    });

    test("is still found after it was revoked, and says since when", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const key = newKey(tenant);
      await accept(store, { tenant, keys: [{ type: "put", key }] });
      await accept(store, { tenant, keys: [{ type: "revoke", keyId: key.keyId, atMs: NOW + 7 }] });
      expect(await store.findKey(key.hash)).toEqual({ ...key, roles: [], groups: [], revokedAtMs: NOW + 7 });
    });

    test("put again is replaced and no longer revoked", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const key = newKey(tenant, { label: "old", expiresAtMs: NOW + HOUR });
      await accept(store, { tenant, keys: [{ type: "put", key }] });
      await accept(store, { tenant, keys: [{ type: "revoke", keyId: key.keyId, atMs: NOW }] });

      const { label: _, expiresAtMs: __, ...plain } = key;
      const again = { ...plain, principal: "sam", scopes: ["runs:read"] };
      await accept(store, { tenant, keys: [{ type: "put", key: again }] });
      const found = await store.findKey(key.hash);
      expect(found).toMatchObject({ principal: "sam", scopes: ["runs:read"] });
      expect([found?.revokedAtMs, found?.label, found?.expiresAtMs]).toEqual([undefined, undefined, undefined]);
      expect(await store.listKeys({ tenant })).toHaveLength(1);
    });

    test("remembers when it was last used", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const key = newKey(tenant);
      await accept(store, { tenant, keys: [{ type: "put", key }] });
      await accept(store, { tenant, keys: [{ type: "used", keyId: key.keyId, atMs: NOW + 3 }] });
      expect((await store.findKey(key.hash))?.lastUsedAtMs).toBe(NOW + 3);
    });

    test("can be put by many hosts that start at once", async () => {
      const { store } = subject;
      const [tenant, hash] = [newTenant(), sha256("bootstrap")];
      const puts = upTo(8).map((n) => newKey(tenant, { hash, principal: `p${n}` }));
      await Promise.all(puts.map((key) => accept(store, { tenant: "_host", keys: [{ type: "put", key }] })));
      expect(puts.map((key) => key.principal)).toContain((await store.findKey(hash))?.principal);
      expect(await store.listKeys({ tenant })).toHaveLength(1);
    });
  });

  describe("the keys of a tenant", () => {
    test("are listed with their roles, those of one workspace where a caller sees no more", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const [wide, inW1, inW2] = [
        newKey(tenant),
        newKey(tenant, { workspace: "w1" }),
        newKey(tenant, { workspace: "w2" }),
      ];
      const foreign = newKey(newTenant(), { workspace: "w1" });
      await accept(store, {
        tenant,
        keys: [wide, inW1, inW2, foreign].map((key) => ({ type: "put", key })),
        roles: [{ tenant, workspace: "w1", principal: "pat", roles: ["admin"] }],
      });
      const listed = await store.listKeys({ tenant });
      expect(listed.map(({ keyId }) => keyId).sort()).toEqual([wide, inW1, inW2].map(({ keyId }) => keyId).sort());
      expect(listed.find(({ keyId }) => keyId === inW1.keyId)?.roles).toEqual(["admin"]);
      expect((await store.listKeys({ tenant, workspace: "w1" })).map(({ keyId }) => keyId)).toEqual([inW1.keyId]);
      expect(await store.listKeys({ tenant: newTenant() })).toEqual([]);
    });
  });

  describe("keys in pages", () => {
    test("are listed oldest first, each once and with all of its roles", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const all = upTo(7).map((n) => newKey(tenant, { workspace: "w1", createdAtMs: NOW + Math.floor(n / 3) }));
      await accept(store, {
        tenant,
        keys: all.map((key) => ({ type: "put", key })),
        roles: [
          { tenant, principal: "pat", roles: ["viewer"] },
          { tenant, workspace: "w1", principal: "pat", roles: ["lead"] },
        ],
      });
      const whole = await store.listKeys({ tenant });
      const paged: KeyRecord[] = [];
      for (let after: KeyRecord | undefined; ; ) {
        const page = await store.listKeys({ tenant, workspace: "w1" }, { limit: 3, ...(after && { after }) });
        paged.push(...page);
        after = page.at(-1);
        if (page.length < 3) break;
      }
      expect(paged).toEqual(whole);
      expect(paged.map(({ roles }) => roles)).toEqual(all.map(() => ["viewer", "lead"]));
      expect(new Set(paged.map(({ keyId }) => keyId)).size).toBe(7);
    });

    test("by principal have all keys of a principal together, in the order of bytes", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const principals = ["b", "B", "a", "b", "c"];
      const all = principals.map((principal, n) => newKey(tenant, { principal, createdAtMs: NOW + n }));
      await accept(store, { tenant, keys: all.map((key) => ({ type: "put", key })) });
      const named = async (after: string) =>
        (await store.keysByPrincipal({ tenant }, after, 3)).map(({ principal, createdAtMs }) => [
          principal,
          createdAtMs - NOW,
        ]);
      expect(await named("")).toEqual([
        ["B", 1],
        ["a", 2],
        ["b", 0],
        ["b", 3],
      ]);
      expect(await named("b")).toEqual([["c", 4]]);
      expect(await named("c")).toEqual([]);
      expect(await store.keysByPrincipal({ tenant, workspace: "w1" }, "", 3)).toEqual([]);
      const keysOf = async (names: readonly string[]) =>
        (await store.keysOf({ tenant }, names)).map(({ createdAtMs }) => createdAtMs - NOW);
      expect([await keysOf(["b"]), await keysOf(["c", "b"]), await keysOf([])]).toEqual([[0, 3], [0, 3, 4], []]);
    });
  });

  describe("keys that work", () => {
    test("are those that were not revoked and have not expired", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const [plain, revoked] = [newKey(tenant), newKey(tenant)];
      const ends = newKey(tenant, { expiresAtMs: NOW + HOUR });
      await accept(store, { tenant, keys: [plain, revoked, ends].map((key) => ({ type: "put", key })) });
      await accept(store, { tenant, keys: [{ type: "revoke", keyId: revoked.keyId, atMs: NOW }] });
      expect(await store.countWorkingKeys(tenant, NOW)).toBe(2);
      expect(await store.countWorkingKeys(tenant, NOW + HOUR)).toBe(1);
      expect(await store.countWorkingKeys(newTenant(), NOW)).toBe(0);
    });

    test("make another owner of a tenant only where they are an owner's and of the whole tenant", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const names = ["one", "bound", "expired", "revoked", "admin", "elsewhere"];
      const more = { bound: { workspace: "w1" }, expired: { expiresAtMs: NOW } } as const;
      const all = names.map((principal) => newKey(tenant, { principal, ...more[principal as keyof typeof more] }));
      const owners = ["one", "bound", "expired", "revoked", "without-a-key"];
      await accept(store, {
        tenant,
        keys: all.map((key) => ({ type: "put", key })),
        roles: [
          ...owners.map((principal) => ({ tenant, principal, roles: ["viewer", "owner"] })),
          { tenant, principal: "admin", roles: ["admin", 'co"owner', "owners", "Owner"] },
          { tenant, workspace: "w1", principal: "elsewhere", roles: ["owner"] },
        ],
      });
      await accept(store, { tenant, keys: [{ type: "revoke", keyId: all[3]?.keyId ?? "", atMs: NOW }] });
      expect(await store.hasOtherOwner(tenant, "one", NOW)).toBe(false);
      expect(await store.hasOtherOwner(tenant, "bound", NOW)).toBe(true);
      expect(await store.hasOtherOwner(tenant, "one", NOW - 1)).toBe(true);
      expect(await store.hasOtherOwner(newTenant(), "bound", NOW)).toBe(false);
    });
  });

  describe("a principal", () => {
    test("is known for each place where it is something", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const wide = { principal: "pat", roles: ["viewer"], groups: ["all"] };
      const inW1 = { principal: "pat", workspace: "w1", roles: ["lead"], groups: [] };
      const sam = { principal: "sam", workspace: "w1", roles: [], groups: ["board"] };
      await accept(store, { tenant, roles: [wide, inW1, sam].map((each) => ({ tenant, ...each })) });
      expect(await store.bindingsOf(tenant, ["pat", "nobody"])).toEqual([wide, inW1]);
      expect(await store.bindingsOf(tenant, ["sam"])).toEqual([sam]);
      expect(await store.bindingsOf(tenant, [])).toEqual([]);
      expect(await store.bindingsOf(newTenant(), ["pat"])).toEqual([]);
    });

    test("is in a workspace what it is there and in all of the tenant", async () => {
      const { store } = subject;
      const tenant = newTenant();
      await accept(store, {
        tenant,
        roles: [
          { tenant, principal: "pat", roles: ["viewer"], groups: ["all"] },
          { tenant, workspace: "w1", principal: "pat", roles: ["reviewer", "viewer"], groups: ["legal"] },
          { tenant, workspace: "w1", principal: "sam", roles: ["owner"], groups: ["board"] },
        ],
      });
      const both = { roles: ["viewer", "reviewer"], groups: ["all", "legal"] };
      expect(await store.membershipOf({ tenant, workspace: "w1" }, "pat")).toEqual(both);
      const wide = { roles: ["viewer"], groups: ["all"] };
      expect(await store.membershipOf({ tenant }, "pat")).toEqual(wide);
      expect(await store.membershipOf({ tenant, workspace: "w2" }, "pat")).toEqual(wide);
      expect(await store.membershipAnywhere(tenant, "pat")).toEqual(both);
      expect(await store.membershipAnywhere(tenant, "sam")).toEqual({ roles: ["owner"], groups: ["board"] });
      expect(await store.membershipAnywhere(newTenant(), "sam")).toEqual({ roles: [], groups: [] });
      for (const [visible, principal] of [
        [{ tenant, workspace: "w1" }, "nobody"],
        [{ tenant: newTenant(), workspace: "w1" }, "pat"],
        [{ tenant }, "sam"],
      ] as const) {
        expect(await store.membershipOf(visible, principal)).toEqual({ roles: [], groups: [] });
      }
    });

    test("keeps its groups when only its roles are said anew", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const binding = { tenant, principal: "pat", roles: ["viewer"] };
      const groups = ["release"];
      await accept(store, { tenant, roles: [{ ...binding, groups }] });
      await accept(store, { tenant, roles: [{ ...binding, roles: ["owner"] }] });
      expect(await store.membershipOf({ tenant }, "pat")).toEqual({ roles: ["owner"], groups });
      await accept(store, { tenant, roles: [{ ...binding, groups: [] }] });
      expect(await store.membershipOf({ tenant }, "pat")).toEqual({ roles: ["viewer"], groups: [] });

      // Also when both are said at the same moment.
      const sam = { tenant, principal: "sam", roles: ["viewer"] };
      await Promise.all([
        accept(store, { tenant, roles: [{ ...sam, groups }] }),
        accept(store, { tenant, roles: [{ ...sam, roles: ["owner"] }] }),
      ]);
      expect(await store.membershipOf({ tenant }, "sam")).toEqual({ roles: ["owner"], groups });
    });
  });

  describe("a role that a workspace defines", () => {
    test("has the scopes it was last given, until it is removed", async () => {
      const { store } = subject;
      const tenant = newTenant();
      const define = (role: string, scopes: readonly string[], workspace?: string) =>
        accept(store, {
          tenant,
          roleDefinitions: [{ type: "put", role, scopes, ...(workspace === undefined ? {} : { workspace }) }],
        });
      await define("auditor", ["audit:read"]);
      await define("auditor", ["audit:read", "runs:read"]);
      await define("auditor", ["runs:read"], "w1");
      await define("lead", ["approvals:respond"], "w1");
      const wide = { auditor: ["audit:read", "runs:read"] };
      expect(await store.customRoles(tenant, undefined)).toEqual(wide);
      expect(await store.customRoles(tenant, "w2")).toEqual(wide);
      expect(await store.customRoles(tenant, "w1")).toEqual({ auditor: ["runs:read"], lead: ["approvals:respond"] });
      expect(await store.customRoles(newTenant(), "w1")).toEqual({});
      expect(await store.ownRoles(tenant, undefined)).toEqual(wide);
      expect(await store.ownRoles(tenant, "w2")).toEqual({});
      expect(await store.ownRoles(tenant, "w1")).toEqual({ auditor: ["runs:read"], lead: ["approvals:respond"] });

      const other = newTenant();
      await accept(store, { tenant: other, roleDefinitions: [{ type: "delete", role: "auditor" }] });
      expect(await store.customRoles(tenant, undefined)).toEqual(wide);
      await accept(store, { tenant, roleDefinitions: [{ type: "delete", role: "auditor", workspace: "w1" }] });
      expect(await store.customRoles(tenant, "w1")).toEqual({ ...wide, lead: ["approvals:respond"] });
      await accept(store, {
        tenant,
        roleDefinitions: [
          { type: "delete", role: "auditor" },
          { type: "put", role: "auditor", scopes: [] },
          { type: "put", role: "gone", scopes: [] },
          { type: "delete", role: "gone" },
        ],
      });
      expect(await store.customRoles(tenant, undefined)).toEqual({ auditor: [] });
    });
  });

  describe("a workspace without roles of its own", () => {
    test("has none beside the built-in ones", async () => {
      expect(await subject.store.customRoles(newTenant(), "w1")).toEqual({});
      expect(await subject.store.customRoles(newTenant(), undefined)).toEqual({});
    });
  });
}
