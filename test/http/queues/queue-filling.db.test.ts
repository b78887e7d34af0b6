import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { expectError, type TestHost } from "../../../src/testing/host.ts";
import { endedRun, QueueBench, type Reviewer } from "../../../src/testing/review-queue.ts";
import { workflow } from "../../../src/testing/workflow.ts";

describe.each(HTTP_STORES)("what is in a review queue on %s", (_name, open) => {
  let bench: QueueBench;
  let host: TestHost;
  let boss: Reviewer;
  let ana: Reviewer;
  let ben: Reviewer;
  beforeAll(async () => {
    bench = await QueueBench.on(await open());
    ({ host, boss, ana, ben } = bench);
  });
  afterAll(() => bench.close());

  test("passes over what it has already, and takes nothing when a run is not there", async () => {
    const { queueId, runIds } = await bench.queueWith({}, 2);
    const more = await host.newRun();
    expect(await boss.add(queueId, ...runIds, more, more)).toMatchObject({ known: 3, added: [{ runId: more }] });
    const items = [{ runId: await host.newRun() }, { runId: await host.newRun("other") }];
    expectError(await boss.member.ask("POST", `/v1/host/assay/queues/${queueId}/items`, { items }), "not_found");
    const ofNode = { items: [{ runId: more, nodeId: "nowhere" }] };
    expectError(await boss.member.ask("POST", `/v1/host/assay/queues/${queueId}/items`, ofNode), "validation_error");
    expect(await boss.queue(queueId)).toMatchObject({ items: { total: 3 } });
  });

  test("takes in runs that have ended, once each, and goes on as more do", async () => {
    const before = await endedRun(host, { metadata: { agentId: "writer" } });
    await endedRun(host, { metadata: { agentId: "reader" } });
    const { queueId } = await boss.create({ name: "ended", query: { workflowId: "noop", agentId: "writer" } });
    expect(await boss.queue(queueId)).toMatchObject({ items: { total: 1, open: 1 }, filling: false });
    expect(await ana.next(queueId)).toMatchObject({ runId: before, workflowId: "noop", agentId: "writer" });
    const after = await endedRun(host, { metadata: { agentId: "writer" } });
    expect(await ben.next(queueId)).toMatchObject({ runId: after });
    expect(await boss.queue(queueId)).toMatchObject({ items: { total: 2 } });
  });

  test("takes in what is flagged, labelled or rated low, from the history of judgments", async () => {
    const runs = [await host.newRun(), await host.newRun(), await host.newRun()];
    const [flagged = "", labelled = "", rated = ""] = runs;
    const say = (runId: string, signal: object) => ana.member.ask("POST", `/v1/runs/${runId}/annotations`, { signal });
    await say(flagged, { kind: "flag" });
    await say(labelled, { kind: "label", label: "odd case" });
    const from = new Date(host.host.nowMs()).toISOString();
    const flags = await boss.create({ name: "flags", query: { flagged: true, from: "2020-01-01T00:00:00Z" } });
    const odd = await boss.create({ name: "odd", query: { label: "odd case" } });
    const low = await boss.create({ name: "low", query: { ratingMax: 2, from, workflowId: "noop" } });
    await say(rated, { kind: "rating", rating: 3 });
    expect(await ben.next(low.queueId)).toBeNull();
    await say(rated, { kind: "rating", rating: 2 });
    await say(rated, { kind: "rating", rating: 1 });
    expect(await ben.next(low.queueId)).toMatchObject({ runId: rated });
    expect((await boss.items(low.queueId)).items).toHaveLength(1);
    expect((await boss.items(odd.queueId)).items).toMatchObject([{ runId: labelled }]);
    const open = (await boss.items(flags.queueId)).items.map(({ runId }) => runId);
    expect(open).toContain(flagged);
    expect(open).not.toContain(labelled);
  });

  test("asks a new query from the beginning and keeps the items it has", async () => {
    const { queueId, runIds } = await bench.queueWith({});
    const ended = await endedRun(host, { metadata: { agentId: "late" } });
    await boss.update(queueId, { revision: 1, query: { agentId: "late" } });
    expect((await boss.items(queueId)).items.map(({ runId }) => runId).sort()).toEqual([...runIds, ended].sort());
    expect(await boss.update(queueId, { revision: 2, query: null })).not.toHaveProperty("query");
  });

  test("pages through its items", async () => {
    const { queueId, items } = await bench.queueWith({}, 5);
    const seen: string[] = [];
    let cursor = "";
    do {
      const page = await boss.items(queueId, `?limit=2${cursor}`);
      seen.push(...page.items.map(({ itemId }) => itemId));
      cursor = page.nextCursor === undefined ? "" : `&cursor=${page.nextCursor}`;
    } while (cursor !== "");
    expect(seen.sort()).toEqual(items.map(({ itemId }) => itemId).sort());
    const bad = await boss.member.ask("GET", `/v1/host/assay/queues/${queueId}/items?cursor=nonsense`);
    expectError(bad, "validation_error");
  });

  test("asks about a node only where the run has it", async () => {
    const bare = workflow({ id: "two-steps", nodes: { draft: "core.noop" } });
    const full = workflow({
      id: "two-steps",
      nodes: { draft: "core.noop", polish: "core.noop" },
      edges: ["draft>polish"],
    });
    await host.ask("POST", "/v1/workflows", { json: bare });
    await endedRun(host, { workflowId: "two-steps" });
    await host.ask("POST", "/v1/workflows", { json: full });
    const runId = await endedRun(host, { workflowId: "two-steps" });
    const { queueId } = await boss.create({ name: "polish", query: { workflowId: "two-steps", nodeId: "polish" } });
    const { items } = await boss.items(queueId);
    expect(items).toMatchObject([{ runId, nodeId: "polish" }]);
    const [item] = items;
    if (item === undefined) throw new Error("nothing was taken in");
    await ana.does("judge", item, { value: 4 });
    expect(await bench.annotationsOn(runId)).toMatchObject([{ target: { runId, nodeId: "polish" } }]);
  });
});
