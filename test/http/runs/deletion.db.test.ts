import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditSigner } from "../../../src/engine/audit/signer.ts";
import { verifyAudit } from "../../../src/engine/audit/verify.ts";
import { DeleteRunResponse } from "../../../src/protocol/runs/api.ts";
import { matches } from "../../../src/protocol/schema.ts";
import { artifactWrite, effectClaim } from "../../../src/testing/builders.ts";
import { calls } from "../../../src/testing/family.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { type Asked, expectError, type TestHost, testHost, type Who } from "../../../src/testing/host.ts";
import { newItem, newQueue, skipped } from "../../../src/testing/queue-builders.ts";
import { accept } from "../../../src/testing/store-contract/subject.ts";
import { BOTH_ON_DISK, type OnDisk } from "../../../src/testing/stored-text.ts";
import { workflow } from "../../../src/testing/workflow.ts";

/** No word of the language, so that it is found nowhere by chance, and none that a scrubber would take for a secret. */
const CANARY = "quetzalbird";

const GATE = { typeId: "core.approvalGate", config: { title: "Ship it?", actions: ["accept", "reject"] } };

describe.each(BOTH_ON_DISK)("a run that is deleted over HTTP on %s", (_, open) => {
  let disk: OnDisk;
  let host: TestHost;
  let gates: GateClient;

  beforeAll(async () => {
    disk = await open();
    const [store, ...others] = disk.stores;
    for (const other of others) await other.close();
    host = await testHost({ store, worker: true });
    gates = new GateClient(host);
    await gates.registerWorkflow(
      workflow({ id: "child", nodes: { say: { typeId: "core.identity", inputs: said() } } }),
    );
    await gates.registerWorkflow(
      workflow({
        id: "parent",
        variables: [{ name: "said", type: "string" }] as never,
        nodes: { say: { typeId: "core.identity", inputs: said() }, gate: GATE, sub: calls("child", passing()) },
        edges: ["say>gate", "gate>sub"],
      }),
    );
    await gates.register("waits", "core.approvalGate", { title: "Ship it?" });
  });
  afterAll(async () => {
    await host.close();
    await disk.drop();
  });

  const remove = (runId: string, asked: Asked = {}) => host.ask("DELETE", `/v1/host/assay/runs/${runId}`, asked);
  const post = async (url: string, json: object) => {
    const answer = await host.ask("POST", url, { json, headers: { "idempotency-key": `${CANARY}-${url.length}` } });
    expect(answer.statusCode, answer.payload).toBeLessThan(300);
    return answer.json();
  };
  const ended = async (as: Who = "owner") => {
    const runId = await host.newRun(as);
    await gates.until(runId, (run) => run.status === "completed", as === "other" ? "t2" : "t1");
    return runId;
  };

  test("is gone for whoever asks, and a repetition of the request is told the same", async () => {
    const runId = await ended();
    const keyed = { headers: { "idempotency-key": "once" } };
    const first = await remove(runId, keyed);
    expect(first.statusCode).toBe(200);
    expect(matches(DeleteRunResponse, first.json())).toBe(true);
    expect(first.json()).toEqual({ runId, deletedRuns: [runId], annotations: 0 });
    expect((await remove(runId, keyed)).json()).toEqual(first.json());
    expectError(await remove(runId), "not_found");
    for (const path of ["", "/events", "/events/poll", "/annotations"]) {
      expectError(await host.ask("GET", `/v1/runs/${runId}${path}`), "not_found");
    }
    expectError(await host.ask("POST", `/v1/runs/${runId}/cancel`, { json: {} }), "not_found");
    const { runs } = (await host.ask("GET", "/v1/runs?limit=200")).json();
    expect(runs.map((run: { runId: string }) => run.runId)).not.toContain(runId);
  });

  test("has ended before, and so has all that it dispatched", async () => {
    const runId = await gates.waiting("waits");
    expectError(await remove(runId), "run_state_conflict");
    expect(await gates.snapshot(runId)).toMatchObject({ status: "waiting-approval" });
    await host.ask("POST", `/v1/runs/${runId}/cancel`, { json: {} });
    await gates.until(runId, (run) => run.status === "cancelled");
    expect((await remove(runId)).statusCode).toBe(200);
  });

  test("is the caller's to delete", async () => {
    const runId = await ended();
    for (const as of ["other", "east"] as const) expectError(await remove(runId, { as }), "not_found");
    for (const as of ["viewer", "narrow"] as const) expectError(await remove(runId, { as }), "forbidden");
    expectError(await remove(runId, { headers: { authorization: "" } }), "unauthenticated");
    expect((await gates.snapshot(runId)).status).toBe("completed");
  });

  test("leaves in the audit log that it was there, and the log is whole", async () => {
    const runId = await ended("other");
    const url = `/v1/runs/${runId}/annotations`;
    await host.ask("POST", url, { as: "other", json: { signal: { kind: "flag" }, note: "odd" } });
    await remove(runId, { as: "other" });
    const head = await host.store.auditHead("t2");
    const entries = await host.store.readAudit("t2", 1, head?.seq ?? 0, 200);
    expect(entries.find(({ action }) => action === "run.deleted")).toMatchObject({
      actor: "bob",
      target: runId,
      details: { workflowId: "noop", reason: "deleted", runs: 1, annotations: 1 },
    });
    const verdict = await verifyAudit(host.store, await auditSigner(host.store), "t2", 1, head?.seq ?? 0);
    expect(verdict).toMatchObject({ chainValid: true, anomalies: [] });
  });

  // Last, because SQLite's file is looked into when nobody has it open.
  test("leaves nothing of what it said, was told, or people said about it", async () => {
    const runId = await gates.waiting("parent", "owner", { inputs: { said: CANARY }, metadata: { why: CANARY } });
    await post(`/v1/runs/${runId}/interrupts/gate`, { resumeValue: { action: "accept", reason: CANARY } });
    const run = await gates.until(runId, ({ status }) => status === "completed");
    const [childId = ""] = Object.keys(run.children);
    expect(JSON.stringify(await gates.snapshot(childId))).toContain(CANARY);

    const annotations = `/v1/host/assay/runs/${runId}/annotations`;
    const said = await post(annotations, { signal: { kind: "correction", correction: CANARY }, note: CANARY });
    await post(`/v1/host/assay/annotations/${said.annotationId}:retract`, { reason: CANARY });
    const flag = await post(`/v1/runs/${childId}/annotations`, { signal: { kind: "flag", label: CANARY } });
    await post(`/v1/host/assay/annotations/${flag.annotationId}:close`, { note: CANARY });
    const queue = newQueue("t1");
    const item = newItem(queue, runId, { body: JSON.stringify({ reason: CANARY }), reviews: [skipped("vic")] });
    const effect = effectClaim(childId);
    await accept(host.store, {
      tenant: "t1",
      queues: [
        { type: "queue", queue },
        { type: "item", item },
      ],
      artifacts: [artifactWrite(runId, { body: Buffer.from(CANARY) })],
      effectClaims: [effect],
    });
    const outcome = {
      effectId: effect.effectId,
      state: "succeeded",
      outcome: `{"sent":"${CANARY}"}`,
      atMs: 1,
    } as const;
    await accept(host.store, { tenant: "t1", effectOutcomes: [outcome] });
    const kept = await ended();

    const answer = await remove(runId);
    expect(answer.json()).toEqual({ runId, deletedRuns: [runId, childId], annotations: 2 });
    expect((await gates.snapshot(kept)).status).toBe("completed");
    expect(await disk.tablesWith(kept)).toContain("runs");
    expect(await disk.tablesWith(CANARY)).toEqual([]);
    await host.close();
    expect(disk.filesHave?.(kept)).not.toBe(false);
    expect(disk.filesHave?.(CANARY)).not.toBe(true);
  });
});

function said() {
  return { said: { type: "variable", variableName: "said" } } as const;
}

function passing() {
  return { inputMapping: { said: "said" }, outputMapping: { said: "said" } };
}
