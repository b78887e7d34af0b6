import { expect, test } from "vitest";
import { queryPlans, type SharedReads } from "../../testing/query-plans.ts";
import { READS } from "./statements.ts";

const { planOf, planOfText } = queryPlans();

test.each([{ tenant: "t" }, { tenant: "t", workspace: "w" }])(
  "tapes are found and listed by an index: %j",
  async (who) => {
    const found = await planOf((store) => store.listTapes(who, { limit: 9, digest: "ab" }));
    expect(found).toContain("tapes_of_digest (tenant=? AND digest=?");
    expect(found).not.toMatch(/SCAN|TEMP B-TREE/);
    const listed = await planOf((store) => store.listTapes(who, { limit: 9, before: "run-1" }));
    expect(listed).toContain("tapes_by_tenant (tenant=? AND run_id<?)");
    expect(listed).not.toMatch(/SCAN|TEMP B-TREE/);
    for (const read of [
      (store: SharedReads) => store.readTape(who, "run-1"),
      (store: SharedReads) => store.readSidecar(who, "run-1"),
      (store: SharedReads) => store.bodiesHere(who, "run-1"),
    ]) {
      expect(await planOf(read)).not.toContain("SCAN");
    }
  },
);

test("whether a tape is here already is one look into an index", () => {
  expect(planOfText(READS.tape)).toContain("tapes_by_digest (tenant=? AND digest=? AND <expr>=?)");
});
