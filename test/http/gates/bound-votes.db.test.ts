import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { VoteBinding } from "../../../src/protocol/gates/api.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { expectError, type TestHost, testHost, type Who } from "../../../src/testing/host.ts";
import { workflow } from "../../../src/testing/workflow.ts";

const ACCEPT = { action: "accept" };
const EDIT = { action: "edit-accept", editedArtifactData: { to: "the press" } };

describe.each(HTTP_STORES)("a vote that says what was read, on %s", (_, open) => {
  let host: TestHost;
  let gates: GateClient;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store, worker: true });
    gates = new GateClient(host);
    const artifactData = { to: "the team" };
    const editing = { actions: ["accept", "reject", "edit-accept"], requiredApprovals: 2, artifactData };
    await gates.register("edited", "core.approvalGate", editing);
    await gates.register("waived", "core.approvalGate", { ...editing, requireBoundVotes: false });
    await gates.register("plain", "core.approvalGate", { artifactData });
    const condition = { type: "equals", left: "output.action", right: "refine" } as const;
    const nodes = {
      draft: "core.noop",
      gate: { typeId: "core.approvalGate", config: { actions: ["accept", "refine"] } },
    };
    await gates.registerWorkflow(
      workflow({ id: "loop", nodes, edges: ["draft>gate", { from: "gate", to: "draft", condition }] }),
    );
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });

  const shown = async (runId: string): Promise<Required<VoteBinding>> => {
    const { interruptId = "", revision = -1, artifactDigest = "" } = (await gates.snapshot(runId)).interrupt ?? {};
    return { interruptId, revision, artifactDigest };
  };
  const vote = (runId: string, value: object, bound: object, as: Who = "owner", headers = {}) => {
    const query = new URLSearchParams(bound as Record<string, string>);
    const url = `/v1/runs/${runId}/interrupts/gate?${query}`;
    return host.ask("POST", url, { as, json: { resumeValue: value }, headers });
  };
  const decide = async (item: object, as: Who = "owner") =>
    (await host.ask("POST", "/v1/host/assay/inbox:decide", { as, json: { items: [item] } })).json().results[0];

  test("does not pass an artifact that was edited since", async () => {
    const runId = await gates.waiting("edited", "east");
    const before = await shown(runId);
    expect((await vote(runId, EDIT, before, "east")).statusCode).toBe(200);
    const details = expectError(await vote(runId, ACCEPT, before), "vote_not_bound");
    expect(details).toMatchObject({ revision: 1, changed: [{ name: "revision" }, { name: "artifactDigest" }] });
    expect(expectError(await vote(runId, ACCEPT, {}), "vote_not_bound")).toMatchObject({
      missing: ["interruptId", "revision", "artifactDigest"],
    });
    expect((await vote(runId, ACCEPT, await shown(runId))).json()).toMatchObject({ resolved: true });
    await gates.until(runId, ({ status }) => status === "completed");
  });

  test("is the same in the snapshot, the inbox and the interrupt by its id", async () => {
    const runId = await gates.waiting("edited");
    const bound = await shown(runId);
    expect(bound).toMatchObject({ revision: 0, artifactDigest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const [item] = (await host.ask("GET", `/v1/host/assay/inbox?runId=${runId}`)).json().items;
    expect(item).toMatchObject(bound);
    const read = await host.ask("GET", `/v1/host/assay/interrupts/${bound.interruptId}`);
    expect(read.json()).toMatchObject({ ...bound, data: { artifactData: { to: "the team" } } });
  });

  test("is checked for a decision from the inbox too", async () => {
    const runId = await gates.waiting("edited");
    const { interruptId, revision, artifactDigest } = await shown(runId);
    const item = { interruptId, resumeValue: ACCEPT };
    expect(await decide(item)).toMatchObject({ ok: false, error: { error: "vote_not_bound" } });
    expect(await decide({ ...item, revision: 4, artifactDigest })).toMatchObject({
      error: { error: "vote_not_bound" },
    });
    expect(await decide({ ...item, revision, artifactDigest })).toMatchObject({ ok: true, tally: { granted: 1 } });
  });

  test("is asked for on the second visit of a gate, and a link made for that visit says it", async () => {
    const runId = await gates.waiting("loop");
    const first = await shown(runId);
    const token = await gates.token(runId);
    await gates.answer(runId, { action: "refine", refineFeedback: { scope: "whole", text: "shorter" } });
    await gates.until(runId, ({ interrupts }) => Object.keys(interrupts).length === 2);
    await gates.until(runId, ({ status }) => status === "waiting-approval");
    expectError(await vote(runId, ACCEPT, {}), "vote_not_bound");
    expectError(await vote(runId, ACCEPT, first), "vote_not_bound");
    expectError(await gates.byToken(token, ACCEPT), "interrupt_already_resolved");
    expect((await gates.byToken(await gates.token(runId), ACCEPT)).json()).toMatchObject({ resolved: true });
  });

  test("is not asked for where the gate waives it, or where nothing can have changed", async () => {
    expect((await gates.answer(await gates.waiting("waived"), ACCEPT)).statusCode).toBe(200);
    expect((await gates.answer(await gates.waiting("plain"), ACCEPT)).statusCode).toBe(200);
    const runId = await gates.waiting("plain");
    expectError(await vote(runId, ACCEPT, { revision: 1 }), "vote_not_bound");
    const token = await gates.token(runId);
    const url = `/v1/interrupts/${token}?artifactDigest=${"0".repeat(64)}`;
    const byLink = { headers: { authorization: "" }, json: { resumeValue: ACCEPT } };
    expectError(await host.ask("POST", url, byLink), "vote_not_bound");
    expectError(await vote(runId, ACCEPT, { revision: "first" }), "validation_error");
    expect((await gates.snapshot(runId)).status).toBe("waiting-approval");
  });

  test("comes after the right to vote", async () => {
    const runId = await gates.waiting("edited");
    expectError(await vote(runId, ACCEPT, { revision: 9 }, "viewer"), "forbidden");
    expectError(await vote(runId, ACCEPT, { revision: 9 }, "other"), "not_found");
  });

  test("may be sent again under the same idempotency key after it was refused, and is part of what the key is for", async () => {
    const runId = await gates.waiting("edited");
    const headers = { "idempotency-key": `vote-${runId}` };
    expectError(await vote(runId, ACCEPT, {}, "owner", headers), "vote_not_bound");
    const bound = await shown(runId);
    expect((await vote(runId, ACCEPT, bound, "owner", headers)).statusCode).toBe(200);
    expectError(await vote(runId, ACCEPT, { ...bound, revision: 1 }, "owner", headers), "idempotency_key_mismatch");
  });

  test("cannot be read by a key that may not read runs, nor of another tenant", async () => {
    const { interruptId } = await shown(await gates.waiting("edited"));
    const url = `/v1/host/assay/interrupts/${interruptId}`;
    expectError(await host.ask("GET", url, { as: "viewer" }), "forbidden");
    expectError(await host.ask("GET", url, { as: "other" }), "not_found");
  });
});
