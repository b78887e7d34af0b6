import { expect, test } from "vitest";
import type { Caller } from "../../protocol/identity/identity.ts";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { ADA } from "../../testing/engine.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { makersOfPrincipals, originsOf } from "./key-origin.ts";
import { createKey } from "./keys.ts";
import { confirmPrincipal } from "./principals.ts";

test("makers of many principals are found without going through the keys of the tenant for each of them", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  await createKey(hostAt(store), ADA, { principal: "made" });
  let reads = 0;
  const keysOf: Store["keysOf"] = (visible, principals) => {
    reads += 1;
    return store.keysOf(visible, principals);
  };
  const names = Array.from({ length: 2000 }, (_, n) => `p${n}`);
  const watched = { readDocuments: store.readDocuments, keysOf };
  expect(await makersOfPrincipals(watched, ADA.tenant, [...names, "made"])).toEqual([ADA.principal]);
  expect(reads).toBe(1);
  await store.close();
});

test("a chain of makers is bounded, and goes on from a principal that an owner confirmed", async () => {
  const store = await openSqliteStore({ path: ":memory:" });
  const host = hostAt(store);
  const make = (by: Caller, principal: string) => createKey(host, by, { principal, roles: ["owner"] });
  let maker: Caller = { ...ADA, roles: ["owner"] };
  for (let n = 1; n <= 8; n++) {
    const { info } = await make(maker, `p${n}`);
    maker = { ...maker, principal: `p${n}`, keyId: info.keyId };
  }
  await expect(make(maker, "p9")).rejects.toMatchObject({ code: "forbidden", details: { limit: 8 } });
  expect((await make(maker, "p8")).info.principal).toBe("p8");
  const record = () => undefined;
  const other: Caller = { ...ADA, principal: "olga", roles: ["owner"], keyId: "key-olga" };
  await confirmPrincipal(host, { caller: other, principal: "p8", record });
  const { info } = await make(maker, "p9");
  expect((await originsOf(store, ADA.tenant, [info.keyId])).get(info.keyId)?.origin.makers).toEqual(["p8"]);
  await store.close();
});

test("origins of thousands of keys are read some at a time", async () => {
  const read: number[] = [];
  const readDocuments: Store["readDocuments"] = async (tenant, kind, keys) => {
    read.push(keys.length);
    const body = JSON.stringify({ principal: "pat", makers: ["ada"] });
    return keys.map((key) => ({ tenant, kind, key, revision: 1, atMs: 0, body }));
  };
  const keyIds = Array.from({ length: 1200 }, (_, n) => `key-${n}`);
  const origins = await originsOf({ readDocuments }, "t1", keyIds);
  expect(read).toEqual([500, 500, 200]);
  expect([origins.size, new Set([...origins.values()].map(({ origin }) => origin)).size]).toEqual([1200, 1]);
});
