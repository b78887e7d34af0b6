import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { annotate, annotationOf, judging, recording, retracting } from "../../testing/annotation-builders.ts";
import { NOW, newTenant, next, nodeStarted, runCompleted, runWrite, startedRun } from "../../testing/builders.ts";
import { eventually } from "../../testing/eventually.ts";
import { createDatabase, type TestDatabase } from "../../testing/postgres.ts";
import { expectRebuilt } from "../../testing/rebuilt.ts";
import { save, upTo } from "../../testing/store-contract/subject.ts";
import type { AnnotationChange, ChangePlace } from "../port/judgments.ts";
import type { Store, Unit } from "../port/store.ts";
import { openPostgresStore } from "./postgres-store.ts";

let database: TestDatabase;
let hosts: readonly [Store, Store];
beforeAll(async () => {
  database = await createDatabase();
  const open = () => openPostgresStore({ url: database.url, poolSize: 4 });
  hosts = await Promise.all([open(), open()]);
});
afterAll(async () => {
  await Promise.all(hosts.map((host) => host.close()));
  await database.drop();
});

/** Lets both hosts commit at the same moment; every unit must be accepted or refused, never fail. */
async function race(units: readonly Unit[]) {
  return Promise.all(units.map((unit, n) => (hosts[n % 2] as Store).commit(unit)));
}

describe("two hosts on one database", () => {
  test("never both supersede or retract one annotation, and count it once", async () => {
    const tenant = newTenant();
    const begun = startedRun({ tenant });
    await save(hosts[0], begun);
    for (const _ of upTo(20)) {
      const first = annotationOf(begun.run);
      await annotate(hosts[0], first);
      const outcomes = await race([
        judging(tenant, recording(annotationOf(begun.run), first)),
        judging(tenant, recording(annotationOf(begun.run), first)),
        judging(tenant, retracting(first)),
        judging(tenant, retracting(first)),
      ]);
      expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
    }
    await expectRebuilt(hosts[1], begun.run.runId);
  });

  test("never show a reader of the history a change before one that it has read past", async () => {
    const tenant = newTenant();
    const runs = await Promise.all(
      upTo(6).map(async () => {
        const begun = startedRun({ tenant });
        await save(hosts[0], begun);
        return begun.run;
      }),
    );
    const total = 240;
    const read: AnnotationChange[] = [];
    const reading = (async () => {
      let after: ChangePlace = { seq: 0, n: 0 };
      while (read.length < total) {
        const page = await hosts[1].annotationChanges(tenant, after, 7);
        read.push(...page);
        after = page.at(-1)?.place ?? after;
      }
    })();
    const units = upTo(total).map((n) => judging(tenant, recording(annotationOf(runs[n % 6] as (typeof runs)[0]))));
    expect((await race(units)).every(({ ok }) => ok)).toBe(true);
    await reading;
    expect(new Set(read.map(({ annotation }) => annotation.annotationId)).size).toBe(total);
  });

  test("annotate runs that the other one is moving, in every order, and nobody waits for ever", async () => {
    const tenants = [newTenant(), newTenant()];
    for (const _ of upTo(15)) {
      const begun = await Promise.all(
        upTo(4).map(async (n) => {
          const run = startedRun({ tenant: tenants[n % 2] as string });
          await save(hosts[0], run);
          return run;
        }),
      );
      const moves = begun.map(
        (run): Unit => ({
          tenant: run.run.owner.tenant,
          runs: [runWrite(next(run, NOW, nodeStarted(), runCompleted()))],
        }),
      );
      const said = begun.map(({ run }) => judging(run.owner.tenant, recording(annotationOf(run))));
      const outcomes = await race([...moves, ...said, ...said.toReversed().map(again), ...moves.toReversed()]);
      expect(outcomes.filter(({ ok }) => ok)).toHaveLength(12);
      for (const { run } of begun) await expectRebuilt(hosts[1], run.runId);
    }
  });

  test("hear of each other's annotations", async () => {
    const begun = startedRun({ tenant: newTenant() });
    await save(hosts[0], begun);
    const heard = vi.fn();
    const stop = hosts[1].onChange(({ annotations }) => annotations && heard());
    await annotate(hosts[0], annotationOf(begun.run));
    await eventually(() => expect(heard).toHaveBeenCalled());
    stop();
  });
});

/** The same, said by somebody else. */
function again(unit: Unit): Unit {
  const [write] = unit.annotations ?? [];
  if (write?.type !== "record") throw new Error("not a recording");
  const annotation = { ...write.annotation, annotationId: `${write.annotation.annotationId}-again` };
  return { ...unit, annotations: [recording(annotation)] };
}
