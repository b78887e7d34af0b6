import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { bearer, expectError, type TestHost, testHost } from "../../../src/testing/host.ts";
import { Member } from "../../../src/testing/inbox-client.ts";
import { JudgmentClient } from "../../../src/testing/judgment-client.ts";
import { workflow } from "../../../src/testing/workflow.ts";

const FLAG = { kind: "flag" };
const RATING = { signal: { kind: "rating", rating: 4 } };

describe.each(HTTP_STORES)("what annotations refuse on %s", (_, open) => {
  let host: TestHost;
  let client: JudgmentClient;
  let drop: () => Promise<void>;
  let runId: string;

  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    host = await testHost({ store: opened.store, worker: true });
    client = new JudgmentClient(host);
    const pair = workflow({ id: "pair", nodes: { a: "core.noop", b: "core.noop" }, edges: ["a>b"] });
    await host.ask("POST", "/v1/workflows", { json: pair });
  });
  afterAll(async () => {
    await host.close();
    await drop();
  });
  beforeEach(async () => {
    runId = await client.ended();
  });

  const post = (json: unknown, headers = {}, id = runId) =>
    host.ask("POST", `/v1/runs/${id}/annotations`, { json, headers });
  const ours = (json: unknown, headers = {}, id = runId) =>
    host.ask("POST", `/v1/host/assay/runs/${id}/annotations`, { json, headers });
  const count = async (id = runId) => (await host.store.annotationsOfRun(id, undefined, 100)).length;
  const eventOf = async (id: string, nodeId?: string) => {
    const answer = await host.ask("GET", `/v1/runs/${id}/events`, { headers: { accept: "application/json" } });
    const events = answer.json().events as { eventId: string; nodeId?: string }[];
    return events.find((event) => event.nodeId === nodeId)?.eventId ?? "";
  };
  const audited = async () => JSON.stringify(await host.store.readAudit("t1", 0, 1_000_000, 10_000));

  describe("in the body", () => {
    test.each<[string, unknown]>([
      ["that is an array", []],
      ["that is a text", "good"],
      ["that is nothing", null],
      ["without a signal", { note: "n" }],
      ["with a signal that is a text", { signal: "rating" }],
      ["with an unknown kind", { signal: { kind: "applause" } }],
      ["without a kind", { signal: { rating: 4 } }],
      ["with a rating of no number", { signal: { kind: "rating" } }],
      ["with a rating of 0", { signal: { kind: "rating", rating: 0 } }],
      ["with a rating of 6", { signal: { kind: "rating", rating: 6 } }],
      ["with a rating of 3.5", { signal: { kind: "rating", rating: 3.5 } }],
      ["with a rating in quotes", { signal: { kind: "rating", rating: "4" } }],
      ["with a rating of null", { signal: { kind: "rating", rating: null } }],
      ["with a bad rating beside a flag", { signal: { kind: "flag", rating: 9 } }],
      ["with a label of no text", { signal: { kind: "label" } }],
      ["with an empty label", { signal: { kind: "label", label: "" } }],
      ["with a label that is a number", { signal: { kind: "label", label: 3 } }],
      ["with a correction of no text", { signal: { kind: "correction" } }],
      ["with a correction that is an object", { signal: { kind: "correction", correction: {} } }],
      ["with a note that is no text", { signal: FLAG, note: 7 }],
      ["with a note of null", { signal: FLAG, note: null }],
      ["with an id of its own", { signal: FLAG, annotationId: "ann-1" }],
      ["with an actor", { signal: FLAG, actor: { principalRef: "somebody" } }],
      ["with a time", { signal: FLAG, createdAt: "2027-01-01T00:00:00Z" }],
      ["with a run in its target", { signal: FLAG, target: { runId: "run-1" } }],
      ["with something unknown in its signal", { signal: { ...FLAG, weight: 2 } }],
      ["with a target that is a text", { signal: FLAG, target: "a" }],
      ["with an event that is no text", { signal: FLAG, target: { eventId: 1 } }],
      ["with an empty node", { signal: FLAG, target: { nodeId: "" } }],
      ["with an event that is none", { signal: FLAG, target: { eventId: "evt-01k4zzzzzzzzzzzzzzzzzzzzzz" } }],
      ["with an event of hostile text", { signal: FLAG, target: { eventId: '%"\\_' } }],
      ["with a node that is none", { signal: FLAG, target: { nodeId: "nowhere" } }],
      ["with a node named like an inherited property", { signal: FLAG, target: { nodeId: "constructor" } }],
      ["with a note that is too long", { signal: FLAG, note: "n".repeat(20_001) }],
      ["with a label that is too long", { signal: { kind: "label", label: "l".repeat(257) } }],
      ["with a correction that is too long", { signal: { kind: "correction", correction: "c".repeat(200_001) } }],
    ])("%s", async (_what, json) => {
      expectError(await post(json), "validation_error");
      expectError(await ours(json), "validation_error");
      expect(await count()).toBe(0);
    });

    test("what only Assay's own route takes", async () => {
      const { annotationId } = await client.rate(runId, 4);
      expectError(await post({ ...RATING, supersedes: annotationId }), "validation_error");
      expectError(await post({ ...RATING, confidence: 0.5 }), "validation_error");
    });

    test("and take the longest that they say they do", async () => {
      const bodies = [
        { signal: FLAG, note: "n".repeat(20_000) },
        { signal: { kind: "label", label: "l".repeat(256) } },
        { signal: { kind: "correction", correction: "ü".repeat(200_000) } },
        { signal: { kind: "correction", correction: "" } },
      ];
      for (const json of bodies) expect((await post(json)).statusCode).toBe(201);
      const listed = (await host.ask("GET", `/v1/runs/${runId}/annotations`)).json().annotations;
      expect(listed).toMatchObject(bodies);
    });

    test("broken JSON, and more of it than a body may hold", async () => {
      const url = `/v1/runs/${runId}/annotations`;
      const headers = { "content-type": "application/json" };
      expectError(await host.ask("POST", url, { body: '{"signal":', headers }), "validation_error");
      const huge = JSON.stringify({ signal: FLAG, note: "n".repeat(2_000_000) });
      expect((await host.ask("POST", url, { body: huge, headers })).statusCode).toBe(413);
    });
  });

  test("an event of another run, and a node of another workflow, with the field that is wrong", async () => {
    const other = await client.ended("pair");
    const foreign = await eventOf(other, "b");
    expect(expectError(await post({ signal: FLAG, target: { eventId: foreign } }), "validation_error")).toMatchObject({
      field: "target.eventId",
    });
    expect(expectError(await post({ signal: FLAG, target: { nodeId: "b" } }), "validation_error")).toMatchObject({
      field: "target.nodeId",
    });
    const own = await eventOf(other, "a");
    const disagreeing = { signal: FLAG, target: { eventId: own, nodeId: "b" } };
    expect(expectError(await post(disagreeing, {}, other), "validation_error")).toMatchObject({
      field: "target.nodeId",
    });
    expect([await count(), await count(other)]).toEqual([0, 0]);
  });

  test("a field beside its kind means nothing, and is kept", async () => {
    const signal = { kind: "flag", rating: 2, label: "aside", correction: "also" };
    const answer = await post({ signal });
    expect(answer.statusCode).toBe(201);
    expect(answer.json().signal).toEqual(signal);
    expect(await client.ids({ runId, signal: "rating" })).toEqual([]);
    expect(await client.ids({ runId, label: "aside" })).toEqual([]);
  });

  describe("somebody else's", () => {
    test("runs and annotations: another tenant and another workspace find nothing", async () => {
      const { annotationId } = await client.flag(runId);
      for (const who of ["other", "west"] as const) {
        const headers = bearer(who);
        expectError(await post(RATING, headers), "not_found");
        expectError(await ours(RATING, headers), "not_found");
        expectError(await host.ask("GET", `/v1/runs/${runId}/annotations`, { headers }), "not_found");
        const url = `/v1/host/assay/annotations/${annotationId}`;
        expectError(await host.ask("GET", url, { headers }), "not_found");
        expectError(await host.ask("POST", `${url}:retract`, { headers, json: { reason: "r" } }), "not_found");
        expectError(await host.ask("POST", `${url}:close`, { headers, json: { note: "n" } }), "not_found");
        const own = await client.ended("noop", headers);
        expectError(await ours({ ...RATING, supersedes: annotationId }, headers, own), "validation_error");
        const eventId = await eventOf(runId);
        expectError(await post({ signal: FLAG, target: { eventId } }, headers, own), "validation_error");
        expect(await count(own)).toBe(0);
      }
      expect(await count()).toBe(1);
      for (const id of ["run-01k4zzzzzzzzzzzzzzzzzzzzzz", "x", "%00", "..%2f"]) {
        expectError(await post(RATING, {}, id), "not_found");
      }
      for (const id of ["ann-01k4zzzzzzzzzzzzzzzzzzzzzz", "x", "%00"]) {
        expectError(await host.ask("GET", `/v1/host/assay/annotations/${id}`), "not_found");
        const retract = await host.ask("POST", `/v1/host/assay/annotations/${id}:retract`, { json: { reason: "r" } });
        expectError(retract, "not_found");
      }
    });

    test("judgments: only their author replaces them; only their author or an admin takes them back", async () => {
      const [ana, ben] = [await Member.join(host, "ana"), await Member.join(host, "ben")];
      const { annotationId } = await client.rate(runId, 4, {}, ana.headers);
      const replace = { ...RATING, supersedes: annotationId };
      expectError(await ours(replace, ben.headers), "forbidden");
      expectError(await ours(replace), "forbidden");
      const url = `/v1/host/assay/annotations/${annotationId}:retract`;
      expectError(await ben.ask("POST", url, { reason: "not good" }), "forbidden");
      expect((await ana.ask("GET", `/v1/host/assay/annotations/${annotationId}`)).json()).toMatchObject({
        state: "live",
      });
      expect((await host.ask("POST", url, { json: { reason: "spam" } })).json()).toMatchObject({
        state: "retracted",
        retraction: { by: "ada", reason: "spam" },
      });
    });
  });

  test("to replace what is on another run, replaced or withdrawn already, or not there", async () => {
    const other = await client.ended();
    const elsewhere = await client.rate(other, 4);
    const replaced = await client.rate(runId, 4);
    await client.rate(runId, 5, { supersedes: replaced.annotationId });
    const withdrawn = await client.rate(runId, 1);
    await client.retract(withdrawn.annotationId);
    const supersede = (supersedes: string) => ours({ ...RATING, supersedes });
    expect(expectError(await supersede(elsewhere.annotationId), "validation_error")["field"]).toBe("supersedes");
    expect(expectError(await supersede("ann-unknown"), "validation_error")["field"]).toBe("supersedes");
    expectError(await supersede(replaced.annotationId), "annotation_conflict");
    expectError(await supersede(withdrawn.annotationId), "annotation_conflict");
    expect(await count()).toBe(3);
  });

  test("to close what is no flag, or was withdrawn; and to change anything without a word", async () => {
    const rating = await client.rate(runId, 4);
    const flag = await client.flag(runId);
    const change = (id: string, what: string, json: object) =>
      host.ask("POST", `/v1/host/assay/annotations/${id}:${what}`, { json });
    expectError(await change(rating.annotationId, "close", { note: "n" }), "annotation_conflict");
    for (const json of [{}, { note: "" }, { note: 1 }, { reason: "r" }, { note: "n".repeat(2001) }]) {
      expectError(await change(flag.annotationId, "close", json), "validation_error");
    }
    for (const json of [{}, { reason: "" }, { reason: "r", by: "me" }, { reason: "r".repeat(2001) }]) {
      expectError(await change(flag.annotationId, "retract", json), "validation_error");
    }
    await client.retract(flag.annotationId);
    expectError(await change(flag.annotationId, "close", { note: "n" }), "annotation_conflict");
    expectError(await change(flag.annotationId, "retract", { reason: "r" }), "annotation_conflict");
  });

  test("a confidence of anybody but an agent, and one that is no share", async () => {
    const agent = await Member.join(host, "critic", { kind: "agent" });
    const code = await Member.join(host, "lint", { kind: "code" });
    for (const headers of [bearer("owner"), code.headers]) {
      expect(expectError(await ours({ ...RATING, confidence: 0.5 }, headers), "validation_error")["field"]).toBe(
        "confidence",
      );
    }
    for (const confidence of [-0.1, 1.1, "0.5", null]) {
      expectError(await ours({ ...RATING, confidence }, agent.headers), "validation_error");
    }
    expect((await ours({ ...RATING, confidence: 0 }, agent.headers)).json()).toMatchObject({
      confidence: 0,
      actorKind: "agent",
    });
  });

  test("keys without the scope, and no key", async () => {
    for (const as of ["viewer", "narrow", "stranger"] as const) {
      expectError(await post(RATING, bearer(as)), "forbidden");
      expectError(await ours(RATING, bearer(as)), "forbidden");
    }
    expect((await host.ask("GET", `/v1/runs/${runId}/annotations`, { as: "viewer" })).statusCode).toBe(200);
    expectError(await host.ask("GET", `/v1/runs/${runId}/annotations`, { as: "stranger" }), "forbidden");
    expectError(await post(RATING, { authorization: "" }), "unauthenticated");
    expect(await count()).toBe(0);
  });

  test.each(["PUT", "DELETE"] as const)("%s: what was recorded is neither replaced nor removed", async (method) => {
    const { annotationId } = await client.rate(runId, 4);
    for (const url of [`/v1/runs/${runId}/annotations`, `/v1/host/assay/annotations/${annotationId}`]) {
      const answer = await host.ask(method, url, { json: RATING });
      expect([answer.statusCode, answer.headers["allow"]]).toEqual([405, expect.stringContaining("GET")]);
    }
    expect(await count()).toBe(1);
  });

  test("a second judgment under one idempotency key, also when ten are sent at once", async () => {
    const headers = { "idempotency-key": `k-${runId}` };
    const answers = await Promise.all(Array.from({ length: 10 }, () => ours(RATING, headers)));
    for (const answer of answers) expect([answer.statusCode, answer.payload]).toEqual([201, answers[0]?.payload]);
    expect((await ours(RATING, headers)).payload).toBe(answers[0]?.payload);
    expect(await count()).toBe(1);
    expectError(await ours({ signal: FLAG }, headers), "idempotency_key_mismatch");
    expect(await count()).toBe(1);
    expect((await audited()).split(`${runId}/`).length - 1).toBe(1);
  });

  describe("nothing of a run that is over", () => {
    test.each(["completed", "failed", "cancelled"])("when it is %s", async (status) => {
      const gates = new GateClient(host);
      await gates.register("gated", "core.approvalGate", { title: "?" });
      const id = await gates.waiting("gated");
      if (status === "cancelled") await host.ask("POST", `/v1/runs/${id}/cancel`, { json: {} });
      else await gates.answer(id, { action: status === "failed" ? "reject" : "accept" });
      const before = await gates.until(id, (run) => run.status === status);
      const log = await gates.events(id);
      expect((await post(RATING, {}, id)).statusCode).toBe(201);
      expect((await ours({ signal: FLAG, target: { nodeId: "gate" } }, {}, id)).statusCode).toBe(201);
      expect(await host.store.readRun({ tenant: "t1" }, id)).toEqual(before);
      expect(await gates.events(id)).toEqual(log);
    });
  });

  test("to say in the audit log what a judgment said", async () => {
    const label = "unspeakable-label";
    const said = { signal: { kind: "label", label, correction: "unspeakable-fix" }, note: "unspeakable-note" };
    const { annotationId } = await client.judge(runId, said);
    const flag = await client.flag(runId, "unspeakable-flag");
    const url = "/v1/host/assay/annotations";
    await host.ask("POST", `${url}/${flag.annotationId}:close`, { json: { note: "unspeakable-close" } });
    await host.ask("POST", `${url}/${annotationId}:retract`, { json: { reason: "unspeakable-reason" } });
    const audit = await audited();
    expect(audit).not.toContain("unspeakable");
    for (const action of ["annotation.create", "annotation.close", "annotation.retract"]) {
      expect(audit).toContain(action);
    }
    expect(audit).toContain(`${runId}/${annotationId}`);
  });
});
