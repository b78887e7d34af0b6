import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { expectError, type TestHost } from "../../../src/testing/host.ts";
import { foreignLine, HEADER } from "../../../src/testing/judgment-files.ts";
import { QueueBench, Reviewer } from "../../../src/testing/review-queue.ts";

const THREE = { kind: "rating", rating: 3 };

describe.each(HTTP_STORES)("the rules of a review queue on %s", (_name, open) => {
  let bench: QueueBench;
  let host: TestHost;
  let boss: Reviewer;
  let ana: Reviewer;
  let ben: Reviewer;
  let cho: Reviewer;
  beforeAll(async () => {
    bench = await QueueBench.on(await open());
    ({ host, boss, ana, ben, cho } = bench);
  });
  afterAll(() => bench.close());

  const linesOf = async (runId: string): Promise<Record<string, string>[]> => {
    const { payload } = await host.ask("GET", `/v1/host/assay/annotations:export?runId=${runId}`);
    return payload
      .trimEnd()
      .split("\n")
      .slice(1, -1)
      .map((line) => JSON.parse(line));
  };
  const bring = async (lines: readonly object[]) =>
    (await host.ask("POST", "/v1/host/assay/annotations:import", { json: { lines: [HEADER, ...lines] } })).json();

  test("lets nobody settle their own dispute, unless it says so", async () => {
    const { queueId, item } = await bench.queueWithOne({ reviewersRequired: 2 });
    await ana.does("judge", item, { value: 1 });
    await boss.does("judge", item, { value: 5 });
    await boss.refused("adjudicate", item, { value: 5 }, "forbidden");
    await boss.update(queueId, { revision: 1, selfAdjudication: true });
    expect(await boss.does("adjudicate", item, { value: 5 })).toMatchObject({ state: "done" });
  });

  test("tells nobody what others said before they have judged", async () => {
    const { queueId, item } = await bench.queueWithOne({ reviewersRequired: 2 });
    await ana.does("judge", item, { value: 1, note: "bad" });
    expect(await ben.item(item)).toMatchObject({ judged: 1, judgments: null, skips: null, mine: null });
    expect((await ben.items(queueId)).items).toMatchObject([{ judgments: null }]);
    expect(await boss.item(item)).toMatchObject({ judgments: null });
    const listed = await ben.member.ask("GET", `/v1/host/assay/annotations?runId=${item.runId}`);
    expect(listed.json().annotations).toEqual([]);
    await ben.does("judge", item, { value: 5 });
    expect((await ben.item(item)).judgments).toHaveLength(2);
    await ben.refused("judge", item, { value: 1, revise: true }, "queue_already_judged");
    await boss.update(queueId, { revision: 1, assign: { people: ["ana", "ben"] } });
  });

  test("shows everything to whoever manages it and is none of its reviewers", async () => {
    const { item } = await bench.queueWithOne({ reviewersRequired: 2, assign: { people: ["ana", "ben"] } });
    await ana.does("judge", item, { value: 1 });
    expect(await boss.item(item)).toMatchObject({ judgments: [{ reviewer: "ana", value: 1 }] });
    expect(await cho.item(item)).toMatchObject({ judgments: null });
  });

  test("is worked on by those it is assigned to, as they are now", async () => {
    const { queueId, item } = await bench.queueWithOne({ assign: { groups: ["legal"] } });
    for (const verb of ["judge", "skip", "renew"]) {
      const body = { judge: { value: 1 }, skip: { reason: "no" }, renew: {} }[verb] ?? {};
      await cho.refused(verb, item, body, "forbidden");
    }
    expectError(await cho.member.ask("POST", `/v1/host/assay/queues/${queueId}:next`, {}), "forbidden");
    await host.ask("POST", "/v1/host/assay/principals/cho", { json: { groups: ["legal"] } });
    expect(await cho.next(queueId)).toMatchObject({ itemId: item.itemId });
    await host.ask("POST", "/v1/host/assay/principals/cho", { json: { groups: [] } });
    await cho.refused("judge", item, { value: 1 }, "forbidden");
  });

  test("lets agents judge only where they are named, and counts them apart", async () => {
    const bot = await Reviewer.join(host, "bot", { kind: "agent" });
    const open = await bench.queueWith({});
    expectError(await bot.member.ask("POST", `/v1/host/assay/queues/${open.queueId}:next`, {}), "forbidden");
    const rules = { reviewersRequired: 3, assign: { people: ["ana", "ben", "bot"] } };
    const { queueId, items } = await bench.queueWith(rules, 2);
    for (const [i, item] of items.entries()) {
      await ana.does("judge", item, { value: 1 + i });
      await ben.does("judge", item, { value: 1 + i });
      await bot.does("judge", item, { value: 5, confidence: 0.5 });
    }
    const people = await boss.agreement(queueId);
    expect(people).toMatchObject({ items: 2, settled: { disputed: 2 }, disputedShare: 1, people: { judgments: 4 } });
    expect(people.people.krippendorff).toMatchObject({ metric: "ordinal", value: 1 });
    expect(people).not.toHaveProperty("agents");
    const all = await boss.agreement(queueId, "?include=agents");
    expect(all.agents).toMatchObject({ judgments: 2, krippendorff: { value: null, reason: "no_common_items" } });
    expect(all.all?.cohen.map(({ reviewers, items: common }) => [...reviewers, common])).toEqual([
      ["ana", "ben", 2],
      ["ana", "bot", 2],
      ["ben", "bot", 2],
    ]);
    expect(all.people).toEqual(people.people);
  });

  test("leaves judgments out of its agreement that their authors took back", async () => {
    const { queueId, item } = await bench.queueWithOne({ reviewersRequired: 2 });
    const judged = await ana.does("judge", item, { value: 1 });
    await ben.does("judge", item, { value: 5 });
    expect(await boss.agreement(queueId)).toMatchObject({ withdrawn: 0, people: { items: 1 } });
    const [annotationId] = judged.judgments?.[0]?.annotationIds ?? [];
    const answer = await ana.member.ask("POST", `/v1/host/assay/annotations/${annotationId}:retract`, {
      reason: "wrong run",
    });
    expect(answer.statusCode).toBe(200);
    const after = await boss.agreement(queueId);
    expect(after).toMatchObject({ withdrawn: 1, people: { items: 0, judgments: 1 } });
    expect(after.people.fleiss).toMatchObject({ value: null });
  });

  test("has no imported judgment in its agreement, and loses none of its own to an import", async () => {
    const { queueId, item } = await bench.queueWithOne({ reviewersRequired: 2 });
    await ana.does("judge", item, { value: 1 });
    await ben.does("judge", item, { value: 5 });
    const before = await boss.agreement(queueId);
    const made = await linesOf(item.runId);
    const copies = made.map((line) => ({ ...line, annotationId: foreignLine().annotationId, signal: THREE }));
    expect(await bring(copies)).toMatchObject({ imported: 2, refused: [] });
    const retraction = { by: "ana", at: "2027-03-01T12:00:00.000Z", reason: "never meant" };
    const withdrawn = made.map((line) => ({ ...line, state: "retracted", retraction }));
    expect(await bring(withdrawn)).toMatchObject({ updated: 0, refused: [{}, {}] });
    expect(await boss.agreement(queueId)).toEqual(before);
    // As if the item had been judged with the imported ones.
    const record = await host.store.readQueueItem({ tenant: "t1" }, queueId, item.itemId);
    if (record === undefined) throw new Error("no item");
    const ids = new Map(made.map(({ annotationId }, i) => [annotationId, copies[i]?.annotationId ?? ""]));
    const body = record.body.replaceAll(/ann-[0-9a-z]+/g, (id) => ids.get(id) ?? id);
    const changed = { type: "item", item: { ...record, body, revision: record.revision + 1 } } as const;
    expect(await host.store.commit({ tenant: "t1", queues: [changed] })).toEqual({ ok: true });
    expect(await boss.agreement(queueId)).toMatchObject({ withdrawn: 2, items: 0, people: { judgments: 0 } });
  });

  test("takes no part in anything once it is closed, and goes on when it is opened again", async () => {
    const { queueId, item } = await bench.queueWithOne({});
    await ana.next(queueId);
    expect(await boss.update(queueId, { revision: 1, state: "closed" })).toMatchObject({
      state: "closed",
      revision: 2,
    });
    await ana.refused("judge", item, { value: 1 }, "queue_closed");
    expectError(await ben.member.ask("POST", `/v1/host/assay/queues/${queueId}:next`, {}), "queue_closed");
    await ana.does("release", item);
    const stale = await boss.member.ask("POST", `/v1/host/assay/queues/${queueId}:update`, {
      revision: 1,
      state: "open",
    });
    expectError(stale, "queue_changed");
    await boss.update(queueId, { revision: 2, state: "open" });
    expect(await ben.next(queueId)).toMatchObject({ itemId: item.itemId });
  });

  test("has a name of its own", async () => {
    await boss.create({ name: "one of a kind" });
    const again = { name: "one of a kind", judgment: { kind: "rating" } };
    expectError(await boss.member.ask("POST", "/v1/host/assay/queues", again), "queue_exists");
  });

  test("has every act in the audit log, and nothing of what was said", async () => {
    const { item, queueId } = await bench.queueWithOne({ reviewersRequired: 2 });
    await ana.does("judge", item, { value: 1, note: "a remark of mine" });
    await ben.does("judge", item, { value: 2 });
    await boss.does("adjudicate", item, { value: 1 });
    const answer = await host.ask("GET", "/v1/host/assay/audit/entries?limit=1000");
    const entries = (answer.json().entries as { action: string; target: string }[]).filter(({ target }) =>
      target.startsWith(queueId),
    );
    expect(entries.map(({ action }) => action).sort()).toEqual(
      ["queue.add", "queue.adjudicate", "queue.create", "queue.judge", "queue.judge"].sort(),
    );
    expect(answer.payload).not.toContain("a remark of mine");
  });

  test("belongs to its tenant and workspace, with all that is in it", async () => {
    const { queueId, item } = await bench.queueWithOne({});
    const url = `/v1/host/assay/queues/${queueId}`;
    for (const as of ["other", "east"] as const) {
      expectError(await host.ask("GET", url, { as }), "not_found");
      expectError(await host.ask("GET", `${url}/items`, { as }), "not_found");
      expectError(await host.ask("GET", `${url}/agreement`, { as }), "not_found");
      expectError(await host.ask("GET", `${url}/items/${item.itemId}`, { as }), "not_found");
      expectError(await host.ask("POST", `${url}:next`, { as, json: {} }), "not_found");
      expectError(await host.ask("POST", `${url}:update`, { as, json: { revision: 1, name: "mine" } }), "not_found");
      expectError(await host.ask("POST", `${url}/items/${item.itemId}:judge`, { as, json: { value: 1 } }), "not_found");
      expect((await host.ask("GET", "/v1/host/assay/queues", { as })).json()).toEqual({ queues: [] });
    }
  });
});
