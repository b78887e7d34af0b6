import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunSnapshot } from "../../../src/protocol/runs/snapshot.ts";
import { calls, childOf, GATE } from "../../../src/testing/family.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { bearer, expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { SseClient } from "../../../src/testing/sse-client.ts";
import { workflow } from "../../../src/testing/workflow.ts";

let host: TestHost;
let gates: GateClient;
let url: string;

beforeAll(async () => {
  host = await testHost({ worker: true });
  gates = new GateClient(host);
  url = await host.listen();
  await gates.registerWorkflow(workflow({ id: "child", nodes: { gate: GATE } }));
  await gates.registerWorkflow(workflow({ id: "parent", nodes: { call: calls("child") } }));
  await gates.registerWorkflow(
    workflow({ id: "aside", nodes: { call: calls("child", { waitForCompletion: false }), gate: GATE } }),
  );
});
afterAll(() => host.close());

const get = (runId: string, headers = {}) => host.ask("GET", `/v1/runs/${runId}`, { headers });
const cancel = (runId: string) => host.ask("POST", `/v1/runs/${runId}/cancel`, { json: {} });

async function waitingPair(workflowId = "parent"): Promise<{ runId: string; childRunId: string }> {
  const runId = await gates.waiting(workflowId);
  const child = await childOf(host.store, runId, ({ status }) => status === "waiting-approval");
  return { runId, childRunId: child.runId };
}

describe("the snapshot of a run with a child", () => {
  test("lists the child and where it stands, and the child names its parent", async () => {
    const { runId, childRunId } = await waitingPair();
    const parent = await gates.snapshot(runId);
    expect(parent).toMatchObject({ status: "waiting-approval", currentNodeId: "call" });
    expect(parent.childRuns).toEqual([
      { runId: childRunId, status: "waiting-approval", workflowId: "child", nodeId: "call" },
    ]);
    expect(parent.interrupt).toBeUndefined();
    expect(await gates.snapshot(childRunId)).toMatchObject({
      parentRunId: runId,
      parentNodeId: "call",
      currentNodeId: "gate",
    });
  });

  test("shows what a child is that the parent's own log says nothing of, and has another ETag then", async () => {
    const { runId, childRunId } = await waitingPair("aside");
    const { version } = await host.store.readRun({ tenant: "t1" }, runId).then((run) => run ?? { version: 0 });
    const before = await get(runId);
    expect(before.json().childRuns).toMatchObject([{ status: "waiting-approval" }]);
    const etag = String(before.headers.etag);
    expect((await get(runId, { "if-none-match": etag })).statusCode).toBe(304);

    await gates.answer(childRunId, { action: "accept" });
    await gates.until(childRunId, ({ status }) => status === "completed");
    expect((await host.store.readRun({ tenant: "t1" }, runId))?.version).toBe(version);
    const after = await get(runId, { "if-none-match": etag });
    expect(after.statusCode).toBe(200);
    expect(after.json().childRuns).toMatchObject([{ status: "completed" }]);
  });

  test("is in the list of runs as its log knows it", async () => {
    const { runId } = await waitingPair();
    await cancel(runId);
    const { runs } = (await host.ask("GET", "/v1/runs?workflowId=parent&limit=1")).json() as { runs: RunSnapshot[] };
    expect(runs).toMatchObject([{ runId, status: "cancelled", childRuns: [{ status: "cancelled" }] }]);
  });
});

describe("the interrupt of a child", () => {
  test("is answered at the child, and the parent completes", async () => {
    const { runId, childRunId } = await waitingPair();
    expect((await gates.answer(runId, { action: "accept" }, { node: "call" })).statusCode).toBe(404);
    expect((await gates.answer(childRunId, { action: "accept" })).statusCode).toBe(200);
    await gates.until(runId, ({ status }) => status === "completed");
    expect((await gates.snapshot(runId)).childRuns).toMatchObject([{ runId: childRunId, status: "completed" }]);
  });

  test("is gone once the parent is cancelled, for a key and for a token", async () => {
    const { runId, childRunId } = await waitingPair();
    const token = await gates.token(childRunId);
    expect((await cancel(runId)).json()).toEqual({ runId, status: "cancelled" });
    expectError(await gates.answer(childRunId, { action: "accept" }), "interrupt_gone");
    expectError(await gates.byToken(token, { action: "accept" }), "interrupt_gone");
    const [end] = await gates.events(childRunId, "run.cancelled");
    expect(end?.payload).toMatchObject({ reason: "parent-cancelled", parentRunId: runId, parentNodeId: "call" });
    expect((await cancel(childRunId)).json()).toEqual({ runId: childRunId, status: "cancelled" });
    expect(await gates.events(childRunId, "run.cancelled")).toHaveLength(1);
  });
});

describe("the stream of a run with a child", () => {
  async function streamed(mode: string): Promise<{ event: string; data: Record<string, unknown> }[]> {
    const { runId, childRunId } = await waitingPair();
    const path = `/v1/runs/${runId}/events?streamMode=${mode}`;
    const client = await SseClient.open(url + path, bearer("owner"));
    await gates.answer(childRunId, { action: "accept" });
    expect(await client.closed).toBe("end");
    return client.frames.map(({ event = "", data = "{}" }) => ({ event, data: JSON.parse(data) }));
  }

  test("carries the dispatch in updates, and what is Assay's own in debug only", async () => {
    const updates = (await streamed("updates")).map(({ event }) => event);
    expect(updates).toContain("node.dispatched");
    expect(updates.filter((type) => type.startsWith("assay."))).toEqual([]);
    const debug = (await streamed("debug")).map(({ event }) => event);
    expect(debug).toEqual(
      expect.arrayContaining(["assay.child.started", "node.dispatched", "assay.child.changed", "assay.child.ended"]),
    );
  });

  test("shows in values how the parent follows its child", async () => {
    const { runId, childRunId } = await waitingPair();
    const client = await SseClient.open(`${url}/v1/runs/${runId}/events?streamMode=values`, bearer("owner"));
    const snapshots = () => client.frames.map(({ data = "{}" }) => JSON.parse(data) as RunSnapshot);
    await client.until(() => snapshots().at(-1)?.status === "waiting-approval");
    expect(snapshots().at(-1)?.childRuns).toMatchObject([{ runId: childRunId, status: "waiting-approval" }]);
    await gates.answer(childRunId, { action: "accept" });
    expect(await client.closed).toBe("end");
    const seen = snapshots().map(({ status }) => status);
    expect(seen.at(-1)).toBe("completed");
    expect(seen.slice(seen.indexOf("waiting-approval"))).toContain("running");
  });
});
