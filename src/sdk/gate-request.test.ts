import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KEYS, type TestHost, testHost } from "../testing/host.ts";
import { connect } from "./connect.ts";
import type { GateHandle } from "./gate-request.ts";

let host: TestHost;
let url: string;

beforeAll(async () => {
  host = await testHost({ worker: true });
  url = await host.listen();
});
afterAll(() => host.close());

function client() {
  return connect({ url, key: KEYS.owner.key });
}

async function answer({ id }: GateHandle, resumeValue: object): Promise<void> {
  const { gates } = client();
  for await (const { event, data } of gates.follow()) {
    if (event !== "inbox.opened" || data.runId !== id) continue;
    const { interruptId, revision, artifactDigest } = data;
    const { results } = await gates.decide({ items: [{ interruptId, revision, artifactDigest, resumeValue }] });
    expect(results).toMatchObject([{ ok: true }]);
    return;
  }
}

describe("a request for a decision", () => {
  test("is decided by whoever may, and found again by its id", async () => {
    const artifact = { to: "Ada", lines: [1, 2] };
    const gate = await client().gates.request({ title: "Send it?", artifact, timeoutMs: 60_000 });
    const decision = client().gates.attach(gate.id).decision();
    await answer(gate, { action: "accept" });
    const expected = { approved: true, action: "accept", artifact, decidedBy: "ada", reason: undefined };
    expect(await decision).toEqual(expected);
    // Long after, too.
    expect(await gate.decision()).toEqual(expected);
  });

  test("without an artifact is decided too", async () => {
    const gate = await client().gates.request({ title: "Go on?" });
    await answer(gate, { action: "accept" });
    expect(await gate.decision()).toMatchObject({ approved: true });
  });

  test("gives the artifact as it was edited", async () => {
    const gate = await client().gates.request({ title: "Edit it", artifact: "a", actions: ["accept", "edit-accept"] });
    await answer(gate, { action: "edit-accept", editedArtifactData: "b" });
    expect(await gate.decision()).toMatchObject({ approved: true, artifact: "b" });
  });

  test("that is rejected, or not decided in time, or withdrawn, is not approved", async () => {
    const rejected = await client().gates.request({ title: "Delete it?", artifact: 1 });
    await answer(rejected, { action: "reject", feedback: "no" });
    expect(await rejected.decision()).toMatchObject({ approved: false, action: "reject" });
    const late = await client().gates.request({ title: "Soon?", timeoutMs: 1 });
    expect(await late.decision()).toMatchObject({ approved: false, action: "timeout" });
    const withdrawn = await client().gates.request({ title: "Never mind" });
    await withdrawn.cancel("changed my mind");
    expect(await withdrawn.decision()).toMatchObject({
      approved: false,
      action: "cancelled",
      reason: "changed my mind",
    });
  });

  test("is none where somebody registers another workflow in its place before it is made", async () => {
    const approved = { type: "static" as const, value: true };
    const position = { x: 0, y: 0 };
    const gate = { id: "gate", typeId: "core.identity", name: "Gate", position, config: {}, inputs: { approved } };
    const none = { edges: [], triggers: [], variables: [], metadata: {}, settings: {} };
    const replacing = async (to: string, init: RequestInit) => {
      const response = await fetch(to, init);
      if (!to.endsWith("/v1/workflows")) return response;
      const { workflowId: id } = (await response.clone().json()) as { workflowId: string };
      await client().workflows.register({ id, name: "Another", version: "1", nodes: [gate], ...none });
      return response;
    };
    const { gates } = connect({ url, key: KEYS.owner.key, fetch: replacing });
    await expect(gates.request({ title: "Pay it?" })).rejects.toThrow("does not ask what was requested");
  });

  test("made again with its idempotency key is the same", async () => {
    const ask = () => client().gates.request({ title: "Once?" }, { idempotencyKey: "once-1" });
    expect((await ask()).id).toBe((await ask()).id);
  });
});
