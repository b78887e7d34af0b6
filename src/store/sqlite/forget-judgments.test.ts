import { join } from "node:path";
import { expect, test } from "vitest";
import { annotationOf, judging, recording } from "../../testing/annotation-builders.ts";
import { auditDraft, newTenant } from "../../testing/builders.ts";
import { deletionOf, endedRun } from "../../testing/store-contract/deletion.ts";
import { accept } from "../../testing/store-contract/subject.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { openSqliteStore } from "./sqlite-store.ts";

test("a run with many judgments is removed in several transactions, with those of others in between", async () => {
  const store = await openSqliteStore({ path: join(tempDir(), "assay.db") });
  const run = await endedRun(store, { tenant: newTenant() });
  const { tenant } = run.owner;
  const said = Array.from({ length: 1200 }, (_, n) => annotationOf(run, { note: `a word ${n}` }));
  await accept(store, judging(tenant, ...said.map((one) => recording(one))));
  const ids = said.map(({ annotationId }) => annotationId);
  let isOver = false;
  const deletion = accept(store, { tenant, deletions: [deletionOf(run)] }).then(() => {
    isOver = true;
  });
  let others = 0;
  let found = 0;
  for (const other = newTenant(); !isOver; others++) {
    await accept(store, { tenant: other, audit: [auditDraft("another.thing")] });
    const left = await store.annotationsById(tenant, ids);
    // Whoever finds some of them gone finds the tombstone too.
    if (left.length === ids.length) continue;
    found++;
    expect(await store.readTombstone({ tenant }, run.runId)).toBeDefined();
  }
  await deletion;
  expect(others).toBeGreaterThan(6);
  expect(found).toBeGreaterThan(1);
  await store.close();
});
