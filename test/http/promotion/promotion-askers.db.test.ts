import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OPEN_REQUESTS_MAX } from "../../../src/agents/deployments/askers.ts";
import type { DeploymentTransition, PolicyGate } from "../../../src/protocol/promotion/api.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { conditionsIn, DeploymentBench, SUITE } from "../../../src/testing/deployment-bench.ts";
import { expectError } from "../../../src/testing/host.ts";
import { expectAllRebuilt } from "../../../src/testing/rebuilt.ts";

const GATE: PolicyGate = { requiredRole: "reviewer" };
const TO_TEST = { version: "1.0.0", toState: "test" } as const;
const GRANT = { resumeValue: { decision: "granted" } };

describe.each(HTTP_STORES)("those who ask for a promotion on %s", (_, open) => {
  let bench: DeploymentBench;
  let drop: () => Promise<void>;
  let carl: Readonly<Record<string, string>>;
  let dora: Readonly<Record<string, string>>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    bench = await DeploymentBench.on(opened.store);
    carl = await keyOf("carl");
    dora = await keyOf("dora");
  });
  afterAll(async () => {
    await expectAllRebuilt(bench.host.store);
    await bench.host.close();
    await drop();
  });

  async function keyOf(principal: string) {
    const json = { principal, roles: ["owner"] };
    const made = await bench.host.ask("POST", "/v1/host/assay/keys", { json });
    return { authorization: `Bearer ${made.json().key}` };
  }
  const gated = async (name: string, gate: PolicyGate = GATE): Promise<DeploymentBench> => {
    const agent = bench.about(name);
    await agent.policy({ promote: { test: { gate } } });
    return agent;
  };
  const sent = (agent: DeploymentBench, headers = {}, more: Partial<DeploymentTransition> = {}) =>
    agent.send({ ...TO_TEST, ...more }, "owner", headers);
  const waiting = async (agent: DeploymentBench, headers = {}, more: Partial<DeploymentTransition> = {}) =>
    String(expectError(await sent(agent, headers, more), "run_state_conflict")["runId"]);
  const grant = (runId: string, headers = {}) =>
    bench.host.ask("POST", `/v1/runs/${runId}/interrupts/gate-${runId}`, { json: GRANT, headers });
  const inbox = async (runId: string, headers = {}): Promise<unknown[]> =>
    (await bench.host.ask("GET", `/v1/host/assay/inbox?runId=${runId}`, { headers })).json().items;

  test("cannot have it approved by principals that they made, where the policy asks for independent voters", async () => {
    const agent = await gated("independent", { ...GATE, requireIndependentVoters: true });
    const runId = await waiting(agent);
    expectError(await grant(runId, carl), "forbidden");
    expectError(await grant(runId, dora), "forbidden");
  });

  test("cannot approve it, be they the first or the second to ask", async () => {
    const agent = await gated("joined");
    const runId = await waiting(agent);
    expect(await inbox(runId, carl)).toHaveLength(1);
    expect(await waiting(agent, carl)).toBe(runId);
    expect(await waiting(agent, carl)).toBe(runId);
    expect(await inbox(runId, carl)).toEqual([]);
    expectError(await grant(runId, carl), "forbidden");
    expectError(await grant(runId), "forbidden");
    const asked = (await agent.audit("deployment.requested")).filter(({ details }) => details["runId"] === runId);
    expect(asked.map(({ actor }) => actor)).toEqual(["ada", "carl"]);
    expect((await grant(runId, dora)).statusCode).toBe(200);
    expect((await sent(agent, carl)).statusCode).toBe(200);
  });

  test("cannot approve another request for the same step either, whichever of them they sent", async () => {
    const agent = await gated("beside");
    const first = await waiting(agent);
    const second = await waiting(agent, {}, { evalRunId: await agent.evaluated("1.0.0") });
    expect(await waiting(agent, carl)).toBe(first);
    expectError(await grant(second, carl), "forbidden");
    expect((await grant(second, dora)).statusCode).toBe(200);
  });

  test("cannot have approved another request for the same step: they neither join nor apply this one", async () => {
    const agent = await gated("beside-approved", { ...GATE, quorum: 2 });
    const evalRunId = await agent.evaluated("1.0.0");
    await waiting(agent);
    const second = await waiting(agent, {}, { evalRunId });
    expect((await grant(second, carl)).statusCode).toBe(200);
    expectError(await sent(agent, carl), "forbidden");
  });

  test("cannot take back what was adjudicated by offering its item anew", async () => {
    const agent = bench.about("offered-anew");
    const requiredEval = { suite: SUITE, acceptHumanOverrides: true, requiredPassScore: 1 };
    await agent.policy({ promote: { test: { requiredEval } } });
    const evalRunId = await agent.evaluated("1.0.0");
    const scored = (await bench.events(evalRunId)).find(
      ({ type, payload }) => type === "eval.scored" && (payload as { taskId?: string }).taskId === "a",
    );
    const post = async (path: string, json: object, headers = {}) => {
      const answer = await bench.host.ask("POST", path, { json, headers });
      expect(answer.statusCode, answer.payload).toBeLessThan(300);
      return answer.json();
    };
    const adjudicators = { people: ["gus"] };
    const judgment = { kind: "label", labels: ["pass", "fail"] };
    const rules = { name: "scores", judgment, reviewersRequired: 2, adjudicators };
    const items = `/v1/host/assay/queues/${(await post("/v1/host/assay/queues", rules)).queueId}/items`;
    const { added } = await post(items, { items: [{ runId: evalRunId, eventId: scored?.eventId }] });
    const item = `${items}/${added[0].itemId}`;
    await post(`${item}:judge`, { value: "fail" }, await keyOf("rob"));
    await post(`${item}:judge`, { value: "pass" }, await keyOf("sue"));
    await post(`${item}:adjudicate`, { value: "fail" }, await keyOf("gus"));
    await post(`/v1/host/assay/evals/${evalRunId}/tasks/a:judge`, { label: "pass" }, await keyOf("tom"));
    expectError(await agent.send({ toState: "test", evalRunId }), "eval_gate_unmet");
    await post(`${item}:requeue`, {});
    expectError(await agent.send({ toState: "test", evalRunId }), "eval_gate_unmet");
  });

  test("cannot have approved it before: who approved can neither join the request nor apply it", async () => {
    const agent = await gated("applied", { ...GATE, quorum: 2 });
    const runId = await waiting(agent);
    expect((await grant(runId, carl)).statusCode).toBe(200);
    expectError(await sent(agent, carl), "forbidden");
    expect((await grant(runId, dora)).statusCode).toBe(200);
    for (const headers of [carl, dora]) {
      const details = expectError(await sent(agent, headers), "forbidden");
      expect(details["problem"]).toContain("let another principal send the request");
      expect(conditionsIn(details)["approval"]).toMatchObject({ met: false });
    }
    expect((await agent.list()).json()[0].state).toBe("draft");
    await agent.done(TO_TEST);
  });

  test("cannot approve each other's requests for the same step in other words", async () => {
    const agent = await gated("worded");
    const evalRunId = await agent.evaluated("1.0.0");
    const first = await waiting(agent);
    const second = await waiting(agent, carl, { evalRunId });
    expect(second).not.toBe(first);
    expectError(await grant(first, carl), "forbidden");
    expectError(await grant(second), "forbidden");
    expect((await grant(second, dora)).statusCode).toBe(200);
    expect((await sent(agent, carl, { evalRunId })).statusCode).toBe(200);
  });

  test("cannot approve each other's requests for the same share in other words", async () => {
    const agent = bench.about("shared");
    await agent.promoted("1.0.0");
    await agent.promoted("1.1.0", "active", { canaryPercent: 10 });
    await agent.policy({ "adjust-canary": { gate: GATE } });
    const asked = (headers: object, more: Partial<DeploymentTransition> = {}) =>
      agent.send({ version: "1.1.0", transition: "adjust-canary", canaryPercent: 50, ...more }, "owner", {
        ...headers,
      });
    const runIdOf = async (answer: ReturnType<typeof asked>) =>
      String(expectError(await answer, "run_state_conflict")["runId"]);
    const first = await runIdOf(asked({}, { toState: "active" }));
    const second = await runIdOf(asked(carl));
    expect(second).not.toBe(first);
    expectError(await grant(first, carl), "forbidden");
    expectError(await grant(second), "forbidden");
    expect((await grant(second, dora)).statusCode).toBe(200);
    expect((await asked(carl)).statusCode).toBe(200);
  });

  test("cannot override its gate either, be they the first or the second to ask", async () => {
    const override = { requiredRole: "owner" };
    const agent = await gated("overridden", { ...GATE, override, overrideBypassesQuorum: true, quorum: 2 });
    const runId = await waiting(agent);
    expect(await waiting(agent, carl)).toBe(runId);
    const json = { resumeValue: { decision: "granted", override: true, reason: "it is urgent" } };
    const overrideBy = (headers = {}) =>
      bench.host.ask("POST", `/v1/runs/${runId}/interrupts/gate-${runId}`, { json, headers });
    expectError(await overrideBy(), "forbidden");
    expectError(await overrideBy(carl), "forbidden");
    expect((await agent.list()).json()[0].state).toBe("draft");
    expect((await overrideBy(dora)).statusCode).toBe(200);
    expect((await sent(agent, carl)).statusCode).toBe(200);
  });

  test("wait beside a bounded number of other requests, which have to be decided or cancelled before there are more", async () => {
    const agent = await gated("many");
    const runIds: string[] = [];
    for (let i = 0; i < OPEN_REQUESTS_MAX; i++) runIds.push(await waiting(agent, {}, { evalRunId: `run-${i}` }));
    const [first = "", second = ""] = runIds;
    const keyed = { ...carl, "idempotency-key": "when-there-is-room" };
    const refused = expectError(await sent(agent, keyed), "run_state_conflict");
    expect(refused).toMatchObject({
      runId: first,
      full: true,
      problem: expect.stringContaining("decide or cancel some of them"),
    });
    expect(refused).not.toHaveProperty("waiting");
    expect(await waiting(agent, carl, { evalRunId: "run-1" })).toBe(second);
    const cancelled = await bench.host.ask("POST", `/v1/runs/${first}/cancel`, { json: {} });
    expect(cancelled.statusCode, cancelled.payload).toBeLessThan(300);
    const runId = await waiting(agent, keyed);
    expectError(await grant(runId), "forbidden");
    expect((await grant(runId, dora)).statusCode).toBe(200);
    expect((await sent(agent, carl)).statusCode).toBe(200);
  });

  test("ask for a pause also beside as many promotions as may wait", async () => {
    const agent = bench.about("paused");
    await agent.promoted("1.0.0", "active");
    await agent.policy({ promote: { test: { gate: GATE } }, pause: { gate: GATE } });
    const more = { version: "1.1.0" };
    for (let i = 0; i < OPEN_REQUESTS_MAX; i++) await waiting(agent, {}, { ...more, evalRunId: `run-${i}` });
    expect(expectError(await sent(agent, carl, more), "run_state_conflict")).toHaveProperty("full");
    const paused = await agent.send({ version: "1.0.0", transition: "pause" }, "owner", carl);
    expect(expectError(paused, "run_state_conflict")).toMatchObject({ waiting: true });
  });

  test("may approve it and apply it where the policy says so", async () => {
    const agent = await gated("alone", { ...GATE, forbidSelfApproval: false });
    const runId = await waiting(agent);
    await waiting(agent, carl);
    expect((await grant(runId, carl)).statusCode).toBe(200);
    expect((await sent(agent, carl)).statusCode).toBe(200);
  });
});
