import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Store } from "../../store/port/store.ts";
import { openPostgresStore } from "../../store/postgres/postgres-store.ts";
import { hostAt } from "../../testing/moving-clock.ts";
import { createDatabase, type TestDatabase } from "../../testing/postgres.ts";
import { upTo } from "../../testing/store-contract/subject.ts";
import { type Effect, withEffect } from "./effects.ts";

let database: TestDatabase;
let stores: Store[];
beforeEach(async () => {
  database = await createDatabase();
  const first = await openPostgresStore({ url: database.url });
  stores = [first, await openPostgresStore({ url: database.url })];
});
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await database.drop();
});

const effect = (ordinal: number): Effect => ({
  tenantId: "acme",
  runId: "run-1",
  nodeId: "mail",
  ordinal,
  providerKey: "mail:send",
  claimedBy: "worker",
  providerAcceptsIdentity: false,
});

describe("an effect that two hosts want at once", () => {
  test("is fired once; the other one finds the outcome or a doubt, and later the outcome", async () => {
    const sent = { type: "succeeded", value: "sent" } as const;
    for (const ordinal of upTo(10)) {
      const fire = vi.fn(async () => sent);
      const results = await Promise.all(stores.map((store) => withEffect(hostAt(store), effect(ordinal), fire)));
      expect(fire).toHaveBeenCalledTimes(1);
      expect(results).toContainEqual(sent);
      for (const result of results) {
        if (result.type === "failed") expect(result.error.code).toBe("effect_in_doubt");
      }
      for (const store of stores) expect(await withEffect(hostAt(store), effect(ordinal), fire)).toEqual(sent);
      expect(fire).toHaveBeenCalledTimes(1);
    }
  });
});
