import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { expectError } from "../../../src/testing/host.ts";
import { JudgmentClient, JudgmentFollower } from "../../../src/testing/judgment-client.ts";
import { QueueBench, Reviewer } from "../../../src/testing/review-queue.ts";

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
