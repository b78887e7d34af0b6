import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { expectError } from "../../../src/testing/host.ts";
import { JudgmentClient, JudgmentFollower } from "../../../src/testing/judgment-client.ts";
import { type ItemOf, QueueBench, Reviewer } from "../../../src/testing/review-queue.ts";

describe.each(HTTP_STORES)("whoever has yet to judge an item of a blind queue on %s", (_, open) => {
  let bench: QueueBench;
  beforeAll(async () => {
    bench = await QueueBench.on(await open());
  });
  afterAll(() => bench.close());

  test("is not shown a single judgment of it by its id, and is once they have judged", async () => {
    const { ana, ben } = bench;
    const { item, runId } = await bench.queueWithOne({ judgment: { kind: "flag" }, reviewersRequired: 2 });
    await ana.does("judge", item, { value: true, note: "worrying" });
    const [said] = await bench.annotationsOn(runId);
    const url = `/v1/host/assay/annotations/${said?.annotationId}`;
    expectError(await ben.member.ask("GET", url), "not_found");
    expectError(await ben.member.ask("POST", `${url}:close`, { note: "no" }), "not_found");
    expect((await ana.member.ask("GET", url)).json()).toEqual(said);
    expect((await bench.boss.member.ask("GET", url)).json()).toEqual(said);
    await ben.does("judge", item, { value: false });
    expect((await ben.member.ask("GET", url)).json()).toMatchObject({ note: "worrying" });
  });

  test("is not sent it on a stream that was opened as an admin", async () => {
    const { ana, host } = bench;
    const dina = await Reviewer.manager(host, "dina");
    const { item, runId } = await bench.queueWithOne({ judgment: { kind: "flag" }, reviewersRequired: 3 });
    const live = await JudgmentFollower.open(await host.listen(), { headers: dina.member.headers });
    await live.untilOpen();
    const set = await host.ask("POST", "/v1/host/assay/principals/dina", { json: { roles: ["reviewer"] } });
    expect(set.statusCode, set.payload).toBe(200);
    await ana.does("judge", item, { value: true, note: "worrying" });
    const [said] = await bench.annotationsOn(runId);
    const { annotationId } = await new JudgmentClient(host).rate(runId, 3);
    await live.untilTold(annotationId);
    live.disconnect();
    expect(live.told.map(({ name }) => name)).not.toContain(said?.annotationId);
  });

  test("does not find it in the figures", async () => {
    const { ana, ben, cho } = bench;
    const rules = { judgment: { kind: "label", labels: ["good", "bad"] }, reviewersRequired: 3 };
    const { queueId, item } = await bench.queueWithOne(rules);
    await ana.does("judge", item, { value: "bad" });
    await ben.does("judge", item, { value: "bad" });
    expect(await cho.agreement(queueId)).toMatchObject({ items: 0, people: { judgments: 0, byValue: [] } });
    for (const who of [ana, bench.boss]) {
      expect(await who.agreement(queueId)).toMatchObject({ items: 1, people: { judgments: 2 } });
    }
    await cho.does("judge", item, { value: "good" });
    expect(await cho.agreement(queueId)).toMatchObject({ items: 1, people: { judgments: 3 } });
  });
});

describe.each(HTTP_STORES)("a follower of judgments of a blind queue on %s", (_, open) => {
  let bench: QueueBench;
  let url: string;
  beforeAll(async () => {
    bench = await QueueBench.on(await open());
    url = await bench.host.listen();
  });
  afterAll(() => bench.close());

  const follow = (who: "boss" | "cho", after?: string) =>
    JudgmentFollower.open(url, { headers: bench[who].member.headers, ...(after === undefined ? {} : { after }) });
  const threeOf = () => bench.queueWithOne({ reviewersRequired: 3 });
  const close = (item: ItemOf) => bench.boss.does("close", item, { reason: "a test run" });

  /** What Cho, who reviews there, and the boss of the queue are told of a run, once one more judgment was recorded on another. */
  async function toldOf(runId: string, from: Readonly<Record<"boss" | "cho", string>>) {
    const { host, ana } = bench;
    const marker = await host.newRun();
    const answer = await ana.member.ask("POST", `/v1/host/assay/runs/${marker}/annotations`, {
      signal: { kind: "label", label: "until here" },
    });
    const told: Record<string, string[]> = {};
    for (const who of ["boss", "cho"] as const) {
      const follower = await follow(who, from[who]);
      await follower.untilTold(answer.json().annotationId);
      follower.disconnect();
      const about = follower.told.filter(({ data }) => data.target.runId === runId);
      told[who] = about.map(({ event, data: { actor, signal } }) => `${event} ${actor.principalRef} ${signal.rating}`);
      if (follower.lastId !== undefined) told[`${who} id`] = [follower.lastId];
    }
    const at = { boss: told["boss id"]?.[0] ?? "", cho: told["cho id"]?.[0] ?? "" };
    return { boss: told["boss"], cho: told["cho"], at };
  }
  const START = { boss: "at-0.0", cho: "at-0.0" };

  test.each<[string, (item: ItemOf) => Promise<unknown>, readonly string[]]>([
    [
      "the last judgment",
      (item) =>
        bench.boss.member.ask("POST", `/v1/host/assay/queues/${item.queueId}/items/${item.itemId}:judge`, { value: 5 }),
      ["annotation.recorded boss 5"],
    ],
    ["the end of its item by hand", close, []],
  ])("who may judge there is told of all judgments with %s, and of none before", async (_, end, more) => {
    const { item, runId } = await threeOf();
    await bench.ana.does("judge", item, { value: 2 });
    await bench.ben.does("judge", item, { value: 4 });
    const both = ["annotation.recorded ana 2", "annotation.recorded ben 4"];
    const before = await toldOf(runId, START);
    expect([before.boss, before.cho]).toEqual([both, []]);
    await end(item);
    const live = await toldOf(runId, before.at);
    expect([live.boss, [...(live.cho ?? [])].sort()]).toEqual([more, [...both, ...more].sort()]);
    const late = await toldOf(runId, START);
    expect([late.boss, [...(late.cho ?? [])].sort()]).toEqual([[...both, ...more], [...both, ...more].sort()]);
    expect((await toldOf(runId, live.at)).cho).toEqual([]);
  });

  test("is told of what became of judgments meanwhile, and of later rounds", async () => {
    const { item, runId } = await bench.queueWithOne({ reviewersRequired: 2 });
    await bench.ana.does("judge", item, { value: 1 });
    await bench.ana.does("judge", item, { value: 2, revise: true });
    const first = await toldOf(runId, START);
    expect(first.cho).toEqual([]);
    await bench.ben.does("judge", item, { value: 2 });
    const second = await toldOf(runId, first.at);
    expect([...(second.cho ?? [])].sort()).toEqual(["annotation.recorded ana 2", "annotation.recorded ben 2"]);
    await bench.boss.does("requeue", item, {});
    await bench.ana.does("judge", item, { value: 3 });
    const third = await toldOf(runId, second.at);
    expect(third.cho).toEqual([]);
    await bench.ben.does("judge", item, { value: 3 });
    const { cho } = await toldOf(runId, third.at);
    expect(cho).toContain("annotation.recorded ana 3");
    expect(cho).toContain("annotation.recorded ben 3");
  });

  test("is told of what was kept back before the queue ceased to be blind", async () => {
    const { queueId, item, runId } = await threeOf();
    await bench.ana.does("judge", item, { value: 2 });
    const before = await toldOf(runId, START);
    expect(before.cho).toEqual([]);
    await bench.boss.update(queueId, { revision: 1, blind: false });
    bench.pass(1);
    await bench.ben.does("judge", item, { value: 4 });
    await close(item);
    const { cho } = await toldOf(runId, before.at);
    expect(cho).toEqual(["annotation.recorded ben 4", "annotation.recorded ana 2"]);
  });
});
