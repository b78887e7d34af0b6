import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { expectError, type TestHost } from "../../../src/testing/host.ts";
import { QueueBench, Reviewer } from "../../../src/testing/review-queue.ts";

describe.each(HTTP_STORES)("working through a review queue on %s", (_name, open) => {
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

  test("hands out runs one by one, and is done with one when enough reviewers agree", async () => {
    const { queueId, runIds } = await bench.queueWith({ reviewersRequired: 2 }, 2);
    const first = await ana.next(queueId);
    expect(first).toMatchObject({
      runId: runIds[0],
      state: "open",
      required: 2,
      judged: 0,
      leased: 1,
      judgments: null,
    });
    expect(first?.mine?.status).toBe("leased");
    expect(await ana.next(queueId)).toMatchObject({ itemId: first?.itemId });
    expect(await ben.next(queueId)).toMatchObject({ itemId: first?.itemId, leased: 2 });
    expect(await cho.next(queueId)).toMatchObject({ runId: runIds[1] });
    const item = first as NonNullable<typeof first>;
    expect(await ana.does("judge", item, { value: 4, note: "fine" })).toMatchObject({ state: "open", judged: 1 });
    expect(await ben.does("judge", item, { value: 4 })).toMatchObject({
      state: "done",
      final: { value: 4, how: "agreed" },
      judgments: [
        { reviewer: "ana", kind: "person", value: 4 },
        { reviewer: "ben", kind: "person", value: 4 },
      ],
    });
    expect(await boss.queue(queueId)).toMatchObject({
      items: { total: 2, open: 1, done: 1 },
      reviewers: [
        { reviewer: "ana", judged: 1, leased: 0 },
        { reviewer: "ben", judged: 1, leased: 0 },
        { reviewer: "cho", judged: 0, leased: 1 },
      ],
      filling: false,
    });
    const annotations = await bench.annotationsOn(item.runId);
    expect(annotations).toMatchObject([
      { actor: { principalRef: "ana" }, signal: { kind: "rating", rating: 4 }, note: "fine", queueItemId: item.itemId },
      { actor: { principalRef: "ben" }, signal: { kind: "rating", rating: 4 }, queueItemId: item.itemId },
    ]);
  });

  test("takes exactly as many judgments as an item needs, however many come at once", async () => {
    const { item, runId } = await bench.queueWithOne({ reviewersRequired: 2 });
    const crowd = await Promise.all(Array.from({ length: 10 }, (_, i) => Reviewer.join(host, `racer-${i}`)));
    const answers = await Promise.all(crowd.map((one) => one.tries("judge", item, { value: 3 })));
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(2);
    for (const answer of answers) if (answer.statusCode !== 200) expectError(answer, "queue_slot_taken");
    expect(await bench.annotationsOn(runId)).toHaveLength(2);
    expect(await boss.item(item)).toMatchObject({ state: "done", judged: 2 });
  });

  test("gives each of many reviewers who ask at once an item of their own", async () => {
    const { queueId } = await bench.queueWith({}, 5);
    const crowd = await Promise.all(Array.from({ length: 7 }, (_, i) => Reviewer.join(host, `asker-${i}`)));
    const got = await Promise.all(crowd.map((one) => one.next(queueId)));
    const given = got.flatMap((item) => (item === null ? [] : [item.itemId]));
    expect(given).toHaveLength(5);
    expect(new Set(given).size).toBe(5);
  });

  test("offers a lease that ended to others, and lets its holder judge as long as nobody took the place", async () => {
    const { queueId, items } = await bench.queueWith({ leaseSeconds: 60 }, 2);
    const [first, second] = items;
    if (first === undefined || second === undefined) throw new Error("nothing was added");
    await ana.next(queueId);
    await ana.does("renew", second);
    expect(await ben.next(queueId)).toBeNull();
    bench.pass(59_000);
    expect(await ben.next(queueId)).toBeNull();
    bench.pass(1000);
    expect(await ben.next(queueId)).toMatchObject({ itemId: first.itemId });
    await ana.refused("judge", first, { value: 2 }, "queue_slot_taken");
    await ana.refused("renew", first, {}, "queue_slot_taken");
    expect(await ana.does("judge", second, { value: 2 })).toMatchObject({ state: "done" });
    expect(await ben.does("judge", first, { value: 5 })).toMatchObject({ state: "done", final: { value: 5 } });
  });

  test("holds an item for longer when asked, and takes it back when it is released", async () => {
    const { queueId, item } = await bench.queueWithOne({});
    await ana.next(queueId, { leaseSeconds: 10 });
    await ana.does("renew", item, { leaseSeconds: 100 });
    bench.pass(50_000);
    expect(await ben.next(queueId)).toBeNull();
    await ben.refused("release", item, {}, "queue_item_state");
    expect(await ana.does("release", item)).toMatchObject({ mine: null, leased: 0 });
    expect(await ben.next(queueId)).toMatchObject({ itemId: item.itemId });
  });

  test("takes one judgment of a reviewer, which may be replaced only on purpose", async () => {
    const { item, runId } = await bench.queueWithOne({ reviewersRequired: 2, blind: false, correction: "optional" });
    await ana.refused("judge", item, { value: 1, revise: true }, "queue_item_state");
    await ana.does("judge", item, { value: 1, correction: "say it politely" });
    await ana.refused("judge", item, { value: 2 }, "queue_already_judged");
    await ana.refused("skip", item, { reason: "no idea" }, "queue_already_judged");
    const revised = await ana.does("judge", item, { value: 2, revise: true });
    expect(revised).toMatchObject({ judged: 1, judgments: [{ value: 2, revised: true }] });
    expect(await bench.annotationsOn(runId)).toMatchObject([
      { signal: { kind: "rating", rating: 1 }, state: "superseded" },
      { signal: { kind: "correction" }, state: "retracted" },
      { signal: { kind: "rating", rating: 2 }, state: "live" },
    ]);
    await ben.does("judge", item, { value: 3 });
    expect(await ben.does("judge", item, { value: 2, revise: true })).toMatchObject({ state: "done" });
  });

  test("does not offer what somebody skipped to them again, until it is requeued", async () => {
    const { queueId, item } = await bench.queueWithOne({});
    await ana.next(queueId);
    const skipped = await ana.does("skip", item, { reason: "I know the author, sk-abcdefghijklmnop1234" });
    expect(skipped).toMatchObject({
      mine: { status: "skipped", reason: expect.stringContaining("I know the author") },
    });
    expect(JSON.stringify(skipped)).not.toContain("abcdefghijklmnop1234");
    expect(await ana.next(queueId)).toBeNull();
    expect((await boss.items(queueId, "?review=skipped&state=open")).items).toMatchObject([{ itemId: item.itemId }]);
    await ana.refused("requeue", item, {}, "forbidden");
    expect(await boss.does("requeue", item, { reason: "somebody has to" })).toMatchObject({ round: 1, skips: [] });
    expect(await ana.next(queueId)).toMatchObject({ itemId: item.itemId });
  });

  test("has disagreement settled by somebody else, once", async () => {
    const { item, runId } = await bench.queueWithOne({
      reviewersRequired: 2,
      judgment: { kind: "label", labels: ["pass", "fail"] },
      adjudicators: { people: ["cho"] },
    });
    await ana.does("judge", item, { value: "pass" });
    await cho.refused("adjudicate", item, { value: "pass" }, "queue_item_state");
    expect(await ben.does("judge", item, { value: "fail" })).toMatchObject({ state: "disputed", final: null });
    await ana.refused("adjudicate", item, { value: "pass" }, "forbidden");
    await cho.refused("adjudicate", item, { value: "maybe" }, "validation_error");
    const settled = await cho.does("adjudicate", item, { value: "fail", note: "it did not answer" });
    expect(settled).toMatchObject({ state: "done", final: { value: "fail", how: "adjudicated", by: "cho" } });
    await boss.refused("adjudicate", item, { value: "pass" }, "queue_item_state");
    const annotations = await bench.annotationsOn(runId);
    expect(annotations.map(({ actor, signal, state }) => [actor.principalRef, signal.label, state])).toEqual([
      ["ana", "pass", "live"],
      ["ben", "fail", "live"],
      ["cho", "fail", "live"],
    ]);
    expect(settled.final?.annotationIds).toEqual([annotations[2]?.annotationId]);
  });

  test("begins another round when a settled item is requeued; whoever judges again replaces what they said", async () => {
    const { queueId, item, runId } = await bench.queueWithOne({});
    await ana.does("judge", item, { value: 2 });
    await boss.refused("close", item, { reason: "done with it" }, "queue_item_state");
    expect(await boss.does("requeue", item)).toMatchObject({ state: "open", round: 2, judged: 0, final: null });
    expect(await ana.next(queueId)).toMatchObject({ itemId: item.itemId });
    await ana.does("judge", item, { value: 3 });
    expect((await bench.annotationsOn(runId)).map(({ state }) => state)).toEqual(["superseded", "live"]);
  });

  test("takes the yes and the no of a flag queue", async () => {
    const { items, runIds } = await bench.queueWith({ judgment: { kind: "flag" }, noteRequired: true }, 2);
    const [first, second] = items;
    if (first === undefined || second === undefined) throw new Error("nothing was added");
    await ana.refused("judge", first, { value: true }, "validation_error");
    await ana.does("judge", first, { value: true, note: "rude" });
    await ana.does("judge", second, { value: false, note: "fine" });
    expect(await bench.annotationsOn(runIds[0] ?? "")).toMatchObject([
      { signal: { kind: "flag" }, flag: { status: "open" } },
    ]);
    expect(await bench.annotationsOn(runIds[1] ?? "")).toMatchObject([
      { signal: { kind: "label", label: "not-flagged" } },
    ]);
  });

  test("does nothing twice under one idempotency key", async () => {
    const { item, runId } = await bench.queueWithOne({ reviewersRequired: 2 });
    const keyed = { "idempotency-key": "judge-once" };
    const answers = await Promise.all([1, 2, 3].map(() => ana.tries("judge", item, { value: 4 }, keyed)));
    for (const answer of answers) expect(answer.statusCode, answer.payload).toBe(200);
    expect(new Set(answers.map(({ payload }) => payload)).size).toBe(1);
    expectError(await ben.tries("judge", item, { value: 4 }, keyed), "idempotency_key_mismatch");
    expect(await bench.annotationsOn(runId)).toHaveLength(1);
  });
});
