import { expect, test } from "vitest";
import { queryPlans } from "../../testing/query-plans.ts";

const { planOf } = queryPlans();

test("documents are found and listed by their key", async () => {
  const id = { tenant: "t", kind: "suite", key: "a" } as const;
  const plans = await Promise.all([
    planOf((store) => store.readDocument(id)),
    planOf((store) => store.readDocuments("t", "suite", ["a", "b"])),
    planOf((store) => store.listDocuments("t", "suite", { limit: 9, after: "a" })),
    planOf((store) => store.listDocuments("t", "suite", { limit: 9, after: "a", prefix: "a" })),
  ]);
  for (const plan of plans) {
    expect(plan).toContain("(tenant=? AND kind=? AND doc_key");
    expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
  }
});
