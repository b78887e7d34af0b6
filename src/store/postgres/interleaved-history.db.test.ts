import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { annotate, annotationOf, judging, recording } from "../../testing/annotation-builders.ts";
import { auditDraft, newTenant, startedRun } from "../../testing/builders.ts";
import { HeldRows } from "../../testing/held-rows.ts";
import { createDatabase, type TestDatabase } from "../../testing/postgres.ts";
import { accept, save } from "../../testing/store-contract/subject.ts";
import type { ChangePlace } from "../port/judgments.ts";
import type { Store } from "../port/store.ts";
import { openPostgresStore } from "./postgres-store.ts";

const START: ChangePlace = { seq: 0, n: 0 };

let database: TestDatabase;
let hosts: readonly [Store, Store];
let held: HeldRows;
let tenant: string;
beforeAll(async () => {
  database = await createDatabase();
  // One connection for reads: what is asked for is done in the order in which it was asked for.
  const open = () => openPostgresStore({ url: database.url, poolSize: 1 });
  hosts = [await open(), await open()];
  held = await HeldRows.connect(database.url);
});
beforeEach(() => {
  tenant = newTenant();
});
afterAll(async () => {
  await held.end();
  await Promise.all(hosts.map((host) => host.close()));
  await database.drop();
});

/** So that the tenant's history has an end, which every commit locks first. */
async function someAudit(): Promise<void> {
  await accept(hosts[0], { tenant, audit: [auditDraft("run.create")] });
}

async function begunRun() {
  const begun = startedRun({ tenant });
  await save(hosts[0], begun);
  return begun.run;
}

async function idsAfter(store: Store, place: ChangePlace): Promise<string[]> {
  return (await store.annotationChanges(tenant, place, 99)).map(({ annotation }) => annotation.annotationId);
}

describe("a transaction that is held open between its steps", () => {
  test("keeps every later place invisible until its own is visible, on whichever host", async () => {
    await someAudit();
    const [slow, quick] = [await begunRun(), await begunRun()];
    const [first, second] = [annotationOf(slow), annotationOf(quick)];
    // The first host has the end of the history locked and waits for the run; the second one waits for the first.
    await held.hold("select 1 from runs where run_id = $1 for update", [slow.runId]);
    const commits = [hosts[0].commit(judging(tenant, recording(first)))];
    await held.untilWaiting(1);
    commits.push(hosts[1].commit(judging(tenant, recording(second))));
    await held.untilWaiting(2);
    for (const host of hosts) expect(await idsAfter(host, START)).toEqual([]);
    await held.release();
    const whole = [first.annotationId, second.annotationId];
    for (let read: string[] = []; read.length < whole.length; ) {
      read = await idsAfter(hosts[1], START);
      expect(read).toEqual(whole.slice(0, read.length));
    }
    expect(await Promise.all(commits)).toMatchObject([{ ok: true }, { ok: true }]);
  });

  test("leaves no gap in front of a reader when it is ended in the middle, and comes later when it is repeated", async () => {
    await someAudit();
    const [slow, quick] = [await begunRun(), await begunRun()];
    const [first, second] = [annotationOf(slow), annotationOf(quick)];
    await held.hold("select 1 from runs where run_id = $1 for update", [slow.runId]);
    const lost = hosts[0].commit(judging(tenant, recording(first)));
    const failed = expect(lost).rejects.toMatchObject({ code: "unavailable" });
    await held.untilWaiting(1);
    const other = hosts[1].commit(judging(tenant, recording(second)));
    await held.untilWaiting(2);
    await held.endFirstWaiting();
    await failed;
    expect(await other).toMatchObject({ ok: true });
    const [read] = await hosts[1].annotationChanges(tenant, START, 99);
    expect(read?.annotation.annotationId).toBe(second.annotationId);
    await held.release();
    await annotate(hosts[0], first);
    for (const host of hosts) expect(await idsAfter(host, read?.place ?? START)).toEqual([first.annotationId]);
  });

  test("of a tenant without a history is overtaken by another host, and takes the next place", async () => {
    const [slow, quick] = [await begunRun(), await begunRun()];
    const [first, second] = [annotationOf(slow), annotationOf(quick)];
    await held.hold("select 1 from runs where run_id = $1 for update", [slow.runId]);
    const overtaken = hosts[0].commit(judging(tenant, recording(first)));
    await held.untilWaiting(1);
    await annotate(hosts[1], second);
    const [read] = await hosts[1].annotationChanges(tenant, START, 99);
    expect(read?.annotation.annotationId).toBe(second.annotationId);
    await held.release();
    expect(await overtaken).toMatchObject({ ok: true });
    for (const host of hosts) expect(await idsAfter(host, read?.place ?? START)).toEqual([first.annotationId]);
  });
});

test("the place of a time is before what is committed while it is looked for", async () => {
  const run = await begunRun();
  await hosts[0].putCursor("held", tenant, START);
  await held.hold("select 1 from export_cursors where tenant = $1 for update", [tenant]);
  const found = hosts[0].changePlaceAt(tenant, 0);
  // Whatever the look-up asks for after its first statement waits behind this one.
  const between = hosts[0].putCursor("held", tenant, START);
  await held.untilWaiting(1);
  const annotation = annotationOf(run);
  await annotate(hosts[1], annotation);
  await held.release();
  await between;
  expect(await idsAfter(hosts[1], await found)).toEqual([annotation.annotationId]);
});
