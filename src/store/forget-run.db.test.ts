import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { annotationOf, judging, recording } from "../testing/annotation-builders.ts";
import { artifactWrite, auditDraft, idempotencyOutcome, newTenant } from "../testing/builders.ts";
import { deletionOf, endedRun } from "../testing/store-contract/deletion.ts";
import { accept } from "../testing/store-contract/subject.ts";
import { BOTH_ON_DISK, type OnDisk } from "../testing/stored-text.ts";
import type { Store } from "./port/store.ts";

describe.each(BOTH_ON_DISK)("on %s", (_, open) => {
  let disk: OnDisk;
  beforeAll(async () => {
    disk = await open();
  });
  afterAll(async () => {
    await Promise.all(disk.stores.map((store) => store.close()));
    await disk.drop();
  });

  test("a run with many judgments is removed in several transactions, with those of others in between", async () => {
    const [store] = disk.stores;
    const run = await endedRun(store, { tenant: newTenant() });
    const { tenant } = run.owner;
    const said = Array.from({ length: 2400 }, (_, n) => annotationOf(run, { note: `a word ${n}` }));
    await accept(store, judging(tenant, ...said.map((one) => recording(one))));
    const ids = said.map(({ annotationId }) => annotationId);
    let found = 0;
    const look = async () => {
      const left = await store.annotationsById(tenant, ids);
      // Whoever finds some of them gone finds the tombstone too.
      if (left.length === ids.length) return;
      found++;
      expect(await store.readTombstone({ tenant }, run.runId)).toBeDefined();
    };
    expect(await othersDuring(store, accept(store, { tenant, deletions: [deletionOf(run)] }), look)).toBeGreaterThan(1);
    expect(found).toBeGreaterThan(0);
  });

  test("a run with large artifacts is removed in several transactions, with those of others in between", async () => {
    const [store] = disk.stores;
    const run = await endedRun(store, { tenant: newTenant() });
    const { tenant } = run.owner;
    for (let n = 0; n < 12; n++) {
      const body = Buffer.alloc(6_000_000, 1);
      await accept(store, { tenant, artifacts: [artifactWrite(run.runId, { artifactId: `art-${n}`, body })] });
    }
    expect(await othersDuring(store, accept(store, { tenant, deletions: [deletionOf(run)] }))).toBeGreaterThan(1);
  });

  test("what was kept for repeated requests is removed in several transactions when its time is over", async () => {
    const [store] = disk.stores;
    const tenant = newTenant();
    const outcomes = Array.from({ length: 1000 }, (_, n) => idempotencyOutcome(tenant, { key: `key-${n}` }));
    await Promise.all(outcomes.map((idempotency) => accept(store, { tenant, idempotency })));
    expect(await othersDuring(store, store.purge(Number.MAX_SAFE_INTEGER))).toBeGreaterThan(1);
  });
});

/** How many commits of another tenant were made until the work was done, each with a look at what is left. */
async function othersDuring(store: Store, work: Promise<unknown>, look = async () => {}): Promise<number> {
  let isOver = false;
  const end = work.then(() => {
    isOver = true;
  });
  let others = 0;
  for (const other = newTenant(); !isOver; others++) {
    await accept(store, { tenant: other, audit: [auditDraft("another.thing")] });
    await look();
  }
  await end;
  return others;
}
