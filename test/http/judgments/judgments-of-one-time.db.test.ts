import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { QueueBench } from "../../../src/testing/review-queue.ts";
import { SidecarClient, sidecar } from "../../../src/testing/sidecar-client.ts";

describe.each(HTTP_STORES)("a judgment of a queue on %s", (_, open) => {
  let bench: QueueBench;
  beforeAll(async () => {
    bench = await QueueBench.on(await open());
  });
  afterAll(() => bench.close());

  test("is shown however many others of its run have its time", async () => {
    const { ana, ben, host } = bench;
    const { item, runId } = await bench.queueWithOne({ judgment: { kind: "flag" }, blind: false });
    await ana.does("judge", item, { value: true, note: "worrying" });
    const { headers } = ben.member;
    const list = await host.ask("GET", `/v1/host/assay/annotations?runId=${runId}`, { headers });
    const [{ annotationId, createdAt: timestamp }] = list.json().annotations;
    const rows = Array.from({ length: 1000 }, (_, n) => ({ id: `row ${n}`, timestamp }));
    await new SidecarClient(host).push(runId, sidecar(...rows));
    const shown = await host.ask("GET", `/v1/host/assay/annotations/${annotationId}`, { headers });
    expect(shown.statusCode, shown.payload).toBe(200);
  });
});
