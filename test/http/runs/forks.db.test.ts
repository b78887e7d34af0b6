import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { ForkHost } from "../../../src/testing/fork-host.ts";
import { bearer, expectError } from "../../../src/testing/host.ts";

const REPLAY = { mode: "replay" };

describe.each(HTTP_STORES)("forking a run on %s", (_, open) => {
  let forks: ForkHost;
  let drop: () => Promise<void>;
  let source: string;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    forks = await ForkHost.start(opened.store);
    source = await forks.everything();
  });
  afterAll(async () => {
    await forks.host.close();
    await drop();
  });

  async function ran(as: "owner" | "east" | "west" = "owner"): Promise<string> {
    const runId = await forks.host.newRun(as);
    await forks.ended(runId);
    return runId;
  }

  test.each([
    ["without a mode", {}],
    ["in a mode that there is not", { mode: "rewind" }],
    ["from before the beginning", { ...REPLAY, fromSeq: -1 }],
    ["from between two events", { ...REPLAY, fromSeq: 1.5 }],
    ["from something that is no number", { ...REPLAY, fromSeq: "1" }],
    ["to a branch that begins nowhere", { mode: "branch" }],
    ["to a replay with other options", { ...REPLAY, runOptionsOverlay: { tags: ["x"] } }],
    ["with a member that nobody knows", { ...REPLAY, runId: "run-1" }],
    ["because of an annotation, on the protocol's own route", { ...REPLAY, motivatedBy: "ann-1" }],
  ])("%s is refused", async (_name, body) => {
    expectError(await forks.ask(source, body), "validation_error");
  });

  test("to a replay takes an overlay that says nothing", async () => {
    expect((await forks.ask(source, { ...REPLAY, runOptionsOverlay: {} })).statusCode).toBe(201);
  });

  test.each(["replay", "branch"])("beyond the end of its log is refused (%s)", async (mode) => {
    const { length } = await forks.log(source);
    const details = expectError(await forks.ask(source, { mode, fromSeq: length + 1 }), "fork_point_invalid");
    expect(details).toMatchObject({ sourceRunId: source, fromSeq: length + 1 });
  });

  test("that does not exist, is another tenant's or of another workspace, is not found", async () => {
    expectError(await forks.ask("run-00000000000000000000000000", REPLAY), "not_found");
    expectError(await forks.ask(source, REPLAY, "other"), "not_found");
    const east = await ran("east");
    expectError(await forks.ask(east, REPLAY, "west"), "not_found");
    expect((await forks.ask(east, REPLAY, "east")).statusCode).toBe(201);
  });

  test("that was deleted is gone for those who could see it, and never was for others", async () => {
    const runId = await ran("east");
    const run = await forks.host.store.readRun({ tenant: "t1" }, runId);
    const { workflowId = "", version = 0 } = run ?? {};
    const about = { runId, tenant: "t1", workspace: "east", workflowId, version };
    const deletion = { ...about, reason: "expired", atMs: Date.now() } as const;
    expect(await forks.host.store.commit({ tenant: "t1", deletions: [deletion] })).toEqual({ ok: true });
    const details = expectError(await forks.ask(runId, { mode: "branch", fromSeq: 1 }, "east"), "fork_source_expired");
    expect(details).toMatchObject({ sourceRunId: runId, fromSeq: 1 });
    expectError(await forks.ask(runId, REPLAY, "west"), "not_found");
    expectError(await forks.ask(runId, REPLAY, "other"), "not_found");
  });

  test("needs the right to make runs and the right to read them, before anything is looked up", async () => {
    const made = await forks.host.ask("POST", "/v1/host/assay/keys", {
      json: { principal: "ada", roles: ["owner"], scopes: ["runs:create"] },
    });
    const headers = { authorization: `Bearer ${made.json().key}` };
    const url = "/v1/runs/run-00000000000000000000000000:fork";
    const blind = await forks.host.ask("POST", url, { json: REPLAY, headers });
    expect(expectError(blind, "forbidden")).toMatchObject({ scopeRequired: "runs:read" });
    const barred = await forks.host.ask("POST", url, { json: REPLAY, headers: bearer("narrow") });
    expect(expectError(barred, "forbidden")).toMatchObject({ scopeRequired: "runs:create" });
  });

  test("belongs to whoever owned the run, whoever forks it", async () => {
    const east = await ran("east");
    const { runId } = await forks.fork(east, REPLAY, "owner");
    expect((await forks.ended(runId)).owner).toEqual({ tenant: "t1", workspace: "east", principal: "eve" });
  });

  test("is done once for one idempotency key", async () => {
    const headers = { "idempotency-key": "fork-it-only-once" };
    const first = await forks.ask(source, REPLAY, "owner", headers);
    const again = await forks.ask(source, REPLAY, "owner", headers);
    expect(again.json()).toEqual(first.json());
    expect(again.headers["openwop-idempotent-replay"]).toBe("true");
    expectError(await forks.ask(source, { mode: "branch", fromSeq: 0 }, "owner", headers), "idempotency_key_mismatch");
  });

  test("is in the audit chain, with where it began", async () => {
    const { runId } = await forks.fork(source, { ...REPLAY, fromSeq: 2 });
    const entries = await forks.host.store.readAudit("t1", 0, Number.MAX_SAFE_INTEGER, 1000);
    const entry = entries.find(({ target }) => target === runId);
    expect(entry).toMatchObject({ action: "run.forked", actor: "ada" });
    expect(entry?.details).toMatchObject({ sourceRunId: source, fromSeq: 2, mode: "replay" });
  });

  test("because of an annotation names it, and only one of that run", async () => {
    const because = `/v1/host/assay/runs/${source}:fork`;
    const made = await forks.host.ask("POST", `/v1/runs/${source}/annotations`, {
      json: { signal: { kind: "flag" }, note: "odd" },
    });
    const { annotationId } = made.json();
    expect(made.statusCode, made.payload).toBe(201);
    const forked = await forks.host.ask("POST", because, { json: { ...REPLAY, motivatedBy: annotationId } });
    expect(forked.statusCode, forked.payload).toBe(201);
    const { runId } = forked.json();
    await forks.ended(runId);
    expect((await forks.gates.snapshot(runId)).metadata).toMatchObject({
      forkedFrom: { runId: source, fromSeq: 0, motivatedBy: annotationId },
    });
    expect(JSON.stringify(await forks.log(runId))).not.toContain(annotationId);
    expect((await forks.host.ask("GET", `/v1/runs/${runId}/annotations`)).json().annotations).toEqual([]);
    const other = `/v1/host/assay/runs/${await ran()}:fork`;
    expectError(
      await forks.host.ask("POST", other, { json: { ...REPLAY, motivatedBy: annotationId } }),
      "validation_error",
    );
    const nobody = { ...REPLAY, motivatedBy: "ann-00000000000000000000000000" };
    expectError(await forks.host.ask("POST", because, { json: nobody }), "validation_error");
  });

  test("delivers nothing of what it repeats, and everything that is new in a branch", async () => {
    const json = { url: "https://8.8.8.8/hook", events: ["*"] };
    const { webhookId } = (await forks.host.ask("POST", "/v1/webhooks", { json })).json();
    const told = async (runId: string) =>
      (await forks.host.store.listDeliveries({ tenant: "t1" }, { limit: 1000 })).filter((one) => one.runId === runId);
    const replay = await forks.fork(source, { ...REPLAY, fromSeq: 4 });
    await forks.ended(replay.runId);
    expect(await told(replay.runId)).toEqual([]);
    const { length } = await forks.log(source);
    const branch = await forks.fork(source, { mode: "branch", fromSeq: length - 2 });
    await forks.ended(branch.runId);
    const sequences = (await told(branch.runId)).map(({ sequence }) => sequence);
    expect(Math.min(...sequences)).toBeGreaterThanOrEqual(length - 2);
    expect((await told(branch.runId)).map(({ eventType }) => eventType)).toContain("run.completed");
    await forks.host.ask("DELETE", `/v1/webhooks/${webhookId}`);
  });
});
