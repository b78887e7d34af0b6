import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { createDatabase, type TestDatabase } from "../../../src/testing/postgres.ts";
import { endedRun, Reviewer } from "../../../src/testing/review-queue.ts";

let database: TestDatabase;
let here: TestHost;
let there: TestHost;
beforeAll(async () => {
  database = await createDatabase();
  here = await testHost({ store: await openPostgresStore({ url: database.url }), worker: true });
  there = await testHost({ store: await openPostgresStore({ url: database.url }) });
});
afterAll(async () => {
  await here.close();
  await there.close();
  await database.drop();
});

describe("a review queue that two hosts on one PostgreSQL serve", () => {
  test("takes as many judgments as an item needs, and gives nobody another's place", async () => {
    const boss = await Reviewer.manager(here, "boss");
    const crowd = await Promise.all(
      Array.from({ length: 12 }, (_, i) => Reviewer.join(i % 2 === 0 ? here : there, `reviewer-${i}`)),
    );
    const { queueId } = await boss.create({ name: "shared", reviewersRequired: 2 });
    const runIds = await Promise.all(Array.from({ length: 4 }, () => here.newRun()));
    const { added } = await boss.add(queueId, ...runIds);

    const [first, ...rest] = added;
    if (first === undefined) throw new Error("nothing was added");
    const answers = await Promise.all(crowd.map((one) => one.tries("judge", first, { value: 3 })));
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(2);
    for (const answer of answers) if (answer.statusCode !== 200) expectError(answer, "queue_slot_taken");

    const got = await Promise.all(crowd.map((one) => one.next(queueId)));
    const holders = rest.map(({ itemId }) => got.filter((item) => item?.itemId === itemId).length);
    expect(holders).toEqual([2, 2, 2]);
  });

  test("is filled once, whoever asks", async () => {
    const boss = await Reviewer.manager(here, "chief");
    const runIds = await Promise.all(
      Array.from({ length: 20 }, () => endedRun(here, { metadata: { agentId: "both" } })),
    );
    const { queueId } = await boss.create({ name: "filled", query: { agentId: "both" } });
    const url = `/v1/host/assay/queues/${queueId}`;
    await Promise.all([here, there, here, there].map((host) => host.ask("GET", url)));
    const { items } = await boss.items(queueId, "?limit=200");
    expect(items.map(({ runId }) => runId).sort()).toEqual([...runIds].sort());
  });
});
