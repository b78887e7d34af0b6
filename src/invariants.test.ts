import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { hasTest } from "./testing/has-test.ts";
import { TestHost } from "./testing/host.ts";

interface Invariant {
  readonly id: string;
  readonly statement: string;
  readonly served: boolean;
  readonly advertisedAs?: string;
  readonly tests?: readonly { readonly file: string; readonly test: string }[];
}

const root = new URL("../", import.meta.url);
const { invariants } = JSON.parse(readFileSync(new URL("security/invariants.json", root), "utf8")) as {
  invariants: Invariant[];
};
const served = invariants.filter((row) => row.served);

describe("the list of security invariants", () => {
  test("names each rule once", () => {
    expect(new Set(invariants.map((row) => row.id)).size).toBe(invariants.length);
  });

  test.each(served.map((row) => [row.id, row] as const))("%s, which is served, has tests that exist", (_, row) => {
    expect(row.tests?.length ?? 0).toBeGreaterThan(0);
    expect((row.tests ?? []).filter(({ file, test: title }) => !hasTest(file, title))).toEqual([]);
  });

  test("covers what discovery advertises, and discovery advertises nothing whose rule is not served", async () => {
    const host = await TestHost.start();
    try {
      const discovery = (await host.app.inject("/.well-known/openwop")).json() as Record<string, unknown>;
      const unserved = invariants.filter((row) => !row.served).map((row) => row.advertisedAs ?? row.id);
      expect(unserved.filter((family) => Object.hasOwn(discovery, family))).toEqual([]);
      for (const family of ["authorization", "auth", "idempotency", "webhooks", "feedback"]) {
        expect(served.some((row) => row.advertisedAs === family)).toBe(Object.hasOwn(discovery, family));
      }
    } finally {
      await host.close();
    }
  });
});
