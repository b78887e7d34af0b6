import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OPERATOR_KEY_ID } from "../../protocol/identity/identity.ts";
import type { Store } from "../../store/port/store.ts";
import { BOTH_STORES } from "../../testing/both-stores.ts";
import { ADA, engineOn } from "../../testing/engine.ts";
import { NAMES_MAX } from "./key-limits.ts";
import { createKey, keyPages, listKeys, revokeKey } from "./keys.ts";
import { listPrincipals, principalPages, setPrincipal } from "./principals.ts";

const { tenant } = ADA;
const record = () => undefined;
const named = (prefix: string, many: number, length = 200) =>
  Array.from({ length: many }, (_, n) => `${prefix}${n}.`.padEnd(length, "x"));

describe.each(BOTH_STORES)("on %s", (_, open) => {
  let store: Store;
  let drop: () => Promise<void>;
  beforeEach(async () => ({ store, drop } = await open()));
  afterEach(async () => {
    await store.close();
    await drop();
  });

  const hostWith = (maxKeys: number) => ({
    ...engineOn(store),
    limits: { maxNodeExecutions: 1000, maxKeys },
  });
  const full = { code: "tenant_key_limit", details: { limit: 3 } };

  describe("a tenant with as many keys that work as it may have", () => {
    test("gets no more, also of many that are asked for at once", async () => {
      const host = hostWith(3);
      const asked = Array.from({ length: 10 }, (_, n) => createKey(host, ADA, { principal: `p${n}` }));
      const refused = (await Promise.allSettled(asked)).filter(({ status }) => status === "rejected");
      expect(refused).toHaveLength(7);
      for (const one of refused) expect(one).toMatchObject({ reason: full });
      expect(await store.countWorkingKeys(tenant, host.nowMs())).toBe(3);
      await createKey(host, { ...ADA, tenant: "another" }, { principal: "pat" });
    });

    test("gets another one for each that is revoked", async () => {
      const host = hostWith(3);
      const made = [];
      for (let n = 0; n < 3; n += 1) made.push(await createKey(host, ADA, { principal: "pat" }));
      await expect(createKey(host, ADA, { principal: "pat" })).rejects.toMatchObject(full);
      await revokeKey(host, { caller: ADA, keyId: made[0]?.info.keyId ?? "", record });
      await createKey(host, ADA, { principal: "pat" });
      await expect(createKey(host, ADA, { principal: "pat" })).rejects.toMatchObject(full);
    });

    test("gets a key from the operator on the database itself", async () => {
      const host = hostWith(0);
      await createKey(host, { ...ADA, keyId: OPERATOR_KEY_ID }, { principal: "pat", roles: ["owner"] });
      expect(await store.countWorkingKeys(tenant, host.nowMs())).toBe(1);
    });
  });

  describe("roles and groups of a principal", () => {
    const tooLong = (limit: number) => ({ code: "validation_error", details: { limit } });

    test("are refused where they are too long in one place", async () => {
      const host = hostWith(100);
      const groups = named("g", 64);
      const refused = tooLong(NAMES_MAX.here);
      await expect(createKey(host, ADA, { principal: "pat", groups })).rejects.toMatchObject(refused);
      expect(await store.countWorkingKeys(tenant, host.nowMs())).toBe(0);
      await createKey(host, ADA, { principal: "pat", groups: groups.slice(0, 32) });
      const change = { caller: ADA, principal: "pat", record };
      await expect(setPrincipal(host, { ...change, request: { groups } })).rejects.toMatchObject(refused);
      expect((await store.membershipOf({ tenant }, "pat")).groups).toHaveLength(32);
    });

    test("are measured in bytes, not in characters", async () => {
      const host = hostWith(100);
      const groups = named("g", 30).map((name) => name.replaceAll("x", "é"));
      await expect(createKey(host, ADA, { principal: "pat", groups })).rejects.toMatchObject(tooLong(NAMES_MAX.here));
    });

    test("are refused where they are too long in all workspaces together", async () => {
      const host = hostWith(100);
      await createKey(host, ADA, { principal: "pat" });
      const set = (workspace: string) =>
        setPrincipal(host, {
          caller: ADA,
          principal: "pat",
          request: { workspace, groups: named("g", 39) },
          record,
        });
      const fit = Math.floor(NAMES_MAX.everywhere / NAMES_MAX.here);
      for (let n = 0; n < fit; n += 1) await set(`w${n}`);
      await expect(set("one-more")).rejects.toMatchObject(tooLong(NAMES_MAX.everywhere));
      await set("w0");
    });

    test("that are too long already can be made shorter, and keys of theirs are made", async () => {
      const host = hostWith(100);
      await createKey(host, ADA, { principal: "pat" });
      const groups = named("g", 64);
      await store.commit({ tenant, roles: [{ tenant, principal: "pat", groups }] });
      await createKey(host, ADA, { principal: "pat" });
      const fewer = groups.slice(1);
      await setPrincipal(host, { caller: ADA, principal: "pat", request: { groups: fewer }, record });
      expect((await store.membershipOf({ tenant }, "pat")).groups).toEqual(fewer);
    });
  });

  describe("lists", () => {
    beforeEach(async () => {
      const host = hostWith(1000);
      const making = Array.from({ length: 230 }, (_, n) =>
        createKey(host, ADA, {
          principal: `p${n % 115}`,
          groups: [`g${n % 115}`],
          ...(n < 115 ? {} : { workspace: `w${n % 2}` }),
        }),
      );
      await Promise.all(making);
    });

    test("of keys have all of them, a page in memory at a time", async () => {
      const { keys } = await listKeys({ store }, ADA);
      expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(230);
      for await (const page of keyPages({ store }, ADA)) expect(page.length).toBeLessThanOrEqual(100);
    });

    test("of principals have all of them by name, a few in memory at a time", async () => {
      const { principals } = await listPrincipals({ store }, ADA);
      const names = principals.map(({ principal }) => principal);
      expect(names).toEqual(Array.from({ length: 115 }, (_, n) => `p${n}`).sort());
      expect(principals[0]).toMatchObject({ principal: "p0", workspaces: ["w1"], groups: ["g0"] });
      for await (const page of principalPages({ store }, ADA, { tenant })) expect(page.length).toBeLessThanOrEqual(20);
      const there = await listPrincipals({ store }, ADA, "w0");
      expect(there.principals.every(({ groups }) => groups.length === 1)).toBe(true);
      expect(there.principals).toHaveLength(115);
    });
  });
});
