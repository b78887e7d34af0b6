import { expect, test } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { ADA } from "../../testing/engine.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { makersOfPrincipals } from "./key-origin.ts";
import { createKey } from "./keys.ts";

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
