import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { type TestHost, testHost } from "../../../src/testing/host.ts";
import { gateWorkflow, Member, openGate } from "../../../src/testing/inbox-client.ts";
import { createDatabase, type TestDatabase } from "../../../src/testing/postgres.ts";

let database: TestDatabase;
let here: TestHost;
let there: TestHost;
beforeAll(async () => {
  database = await createDatabase();
  // Long enough that only a notification can be what wakes a stream in these tests.
  const streams = { inboxRereadMs: 3_600_000, rereadMs: 3_600_000 };
  here = await testHost({ store: await openPostgresStore({ url: database.url }), streams, worker: true });
  there = await testHost({ store: await openPostgresStore({ url: database.url }), streams });
});
afterAll(async () => {
  await here.close();
  await there.close();
  await database.drop();
});

describe("two hosts on one PostgreSQL", () => {
  test("have one inbox, and each tells live what was done at the other", async () => {
    const ana = await Member.join(here, "ana");
    const ben = await Member.join(here, "ben");
    const workflowId = await gateWorkflow(here, { config: { requiredApprovals: 2 } });
    const before = await openGate(here, workflowId);
    const live = await (await ana.follow(await there.listen())).untilTold();
    const after = await openGate(here, workflowId);
    await live.until(after.interruptId, "opened");
    const listed = await there.ask("GET", "/v1/host/assay/inbox", { headers: ana.headers });
    expect(listed.json().items).toMatchObject([before, after]);
    for (const { interruptId } of [before, after]) {
      await ana.answer(interruptId, { action: "accept" });
      await live.until(interruptId, "updated");
      await ben.answer(interruptId, { action: "accept" });
      await live.until(interruptId, "closed");
      expect(live.about(interruptId)).toEqual(["opened", "updated", "closed"]);
    }
    expect((await there.ask("GET", "/v1/host/assay/inbox", { headers: ana.headers })).json()).toEqual({ items: [] });
    expect((await there.ask("GET", "/v1/host/assay/gates/summary")).json().total).toMatchObject({
      opened: 2,
      decided: 2,
    });
    live.client.disconnect();
  });

  test("follow what somebody becomes at the other", async () => {
    const lea = await Member.join(here, "lea");
    const gate = await openGate(here, await gateWorkflow(here, { config: { approverGroupRefs: ["legal"] } }));
    const live = await (await lea.follow(`${there.app.listeningOrigin}`)).untilTold();
    expect(live.about(gate.interruptId)).toEqual([]);
    await here.ask("POST", "/v1/host/assay/principals/lea", { json: { groups: ["legal"] } });
    await live.until(gate.interruptId, "opened");
    live.client.disconnect();
  });
});
