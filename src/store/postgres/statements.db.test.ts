import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newTenant, startedRun } from "../../testing/builders.ts";
import { createDatabase, type TestDatabase } from "../../testing/postgres.ts";
import { judged, newItem, newQueue } from "../../testing/queue-builders.ts";
import { reviewOf, roundOf, writing } from "../../testing/review-builders.ts";
import { accept, save } from "../../testing/store-contract/subject.ts";
import type { Store } from "../port/store.ts";
import { openPostgresStore } from "./postgres-store.ts";
import { prepared } from "./statements.ts";

describe("the name of a prepared statement", () => {
  test("is another one for another text, also under the same label", () => {
    const [one, two] = [prepared("delete things", "delete from a"), prepared("delete things", "delete from b")];
    expect(one.name).not.toBe(two.name);
    expect([one.text, two.text]).toEqual(["delete from a", "delete from b"]);
  });

  test("stays that of the text, and fits into the names of a server", () => {
    const one = prepared("x".repeat(200), "select 17");
    expect(prepared("another label", "select 17")).toBe(one);
    expect(one.name.length).toBeLessThan(64);
  });
});

describe("one connection", () => {
  let database: TestDatabase;
  let store: Store;
  beforeAll(async () => {
    database = await createDatabase();
    store = await openPostgresStore({ url: database.url });
  });
  afterAll(async () => {
    await store.close();
    await database.drop();
  });

  test("writes a review of a queue and deletes a review session", async () => {
    const tenant = newTenant();
    const begun = startedRun({ tenant });
    await save(store, begun);
    const queue = newQueue(tenant);
    const item = newItem(queue, begun.run.runId);
    const session = reviewOf(tenant);
    await accept(store, {
      tenant,
      queues: [
        { type: "queue", queue },
        { type: "fill", items: [item] },
      ],
      reviews: [writing(session, [roundOf(session, 1)])],
    });
    const reviewed = { ...item, revision: item.revision + 1, reviews: [judged("ada")] };
    await accept(store, { tenant, queues: [{ type: "item", item: reviewed }] });
    await accept(store, { tenant, reviews: [{ type: "delete", sessionId: session.sessionId }] });
    expect(await store.readQueueItem({ tenant }, queue.queueId, item.itemId)).toEqual(reviewed);
  });
});
