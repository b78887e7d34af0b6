import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { confirmPrincipal } from "../../../src/engine/identity/principals.ts";
import { judgeTask } from "../../../src/evals/override/judge-task.ts";
import type { RequiredEval } from "../../../src/protocol/promotion/evidence.ts";
import type { Committed, Unit } from "../../../src/store/port/store.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import {
  BAD_VERSION,
  conditionsIn,
  DeploymentBench,
  FIXTURE_SUITE,
  SUITE,
} from "../../../src/testing/deployment-bench.ts";
import { goldenTask, suiteOf } from "../../../src/testing/eval-bench.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { expectError, type Who } from "../../../src/testing/host.ts";
import { enrol } from "../../../src/testing/voters.ts";

const GATE = "core.openwop.governance.approvalGate";
const GRANT = { decision: "granted" };

describe.each(HTTP_STORES)("a gate of a workflow that an evaluation has to speak at, on %s,", (_, open) => {
  let bench: DeploymentBench;
  let gates: GateClient;
  let drop: () => Promise<void>;
  let good: string;
  let bad: string;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    bench = await DeploymentBench.on(opened.store);
    gates = new GateClient(bench.host);
    good = await bench.evaluated("1.0.0");
    bad = await bench.evaluated(BAD_VERSION);
  });
  afterAll(async () => {
    await bench.host.close();
    await drop();
  });

  let made = 0;
  /** A run that waits at such a gate. What it names itself comes with its inputs. */
  const waiting = async (
    requiredEval: RequiredEval,
    named: Record<string, unknown> = {},
    more: object = {},
    as: Who = "owner",
  ) => {
    const id = `proven-${++made}`;
    const ports = Object.keys(named).map((name) => [name, { type: "variable", variableName: name }]);
    const config = { requiredRole: "reviewer", requiredEval, ...more };
    await gates.register(id, GATE, config, as, {
      nodes: { gate: { typeId: GATE, config, inputs: Object.fromEntries(ports) }, after: "core.noop" },
      variables: Object.entries(named).map(([name, value]) => ({ name, type: typeof value })),
    });
    return gates.waiting(id, as, { inputs: named });
  };
  const unmet = async (runId: string, as: Who = "owner", value: object = GRANT) => {
    const details = expectError(await gates.answer(runId, value, { as }), "eval_gate_unmet");
    expect(await gates.interrupt(runId)).toMatchObject({ status: "open", votes: [] });
    const failed = Object.values(conditionsIn(details)).filter(({ met }) => !met);
    return Object.fromEntries(failed.map(({ condition, found }) => [condition, found]));
  };
  const granted = async (runId: string) => {
    const answered = await gates.answer(runId, GRANT);
    expect(answered.statusCode, answered.payload).toBe(200);
    return gates.until(runId, (run) => run.status === "completed");
  };
  const judge = (runId: string, taskId: string, json: object) =>
    bench.host.ask("POST", `/v1/host/assay/evals/${runId}/tasks/${taskId}:judge`, { json });
  const about = { suite: SUITE, agentId: "local.test.echo" };

  test("is passed with one that holds; the vote and the audit chain say what it rested on", async () => {
    const runId = await waiting({ evalRunId: good, requireCertificate: true });
    await granted(runId);
    const [vote] = (await bench.events(runId)).filter(({ type }) => type === "assay.vote.recorded");
    const evidence = vote?.payload["evidence"];
    expect(evidence).toContainEqual({
      condition: "score",
      wanted: "passed by the suite's own bar",
      found: "1 and passed, as scored",
      met: true,
    });
    expect(evidence).toContainEqual(expect.objectContaining({ condition: "agent version", found: "1.0.0", met: true }));
    expect(evidence).toContainEqual(expect.objectContaining({ condition: "judge certificate", met: true }));
    const noted = (await bench.audit("interrupt.voted")).find(({ target }) => target === runId);
    expect(noted?.details["conditions"]).toEqual(evidence);
  });

  test("is passed with one that the run names, where that is about what the gate asks for", async () => {
    await granted(await waiting(about, { evalRunId: good, agentVersion: "1.0.0" }));
    await granted(await waiting({ ...about, agentVersion: "1.0.0" }, { evalRunId: good }));
  });

  test("stays closed with one whose fixtures were never used, unless the gate allows that", async () => {
    const evalRunId = await bench.evaluated("1.0.0", {}, "owner", FIXTURE_SUITE);
    expect(await unmet(await waiting({ evalRunId }))).toEqual({
      "tools and memory": "fixtures of 1 task were never used: looks-up",
    });
    await granted(await waiting({ evalRunId, allowUnusedFixtures: true }));
  });

  test("stays closed without one, each missing piece said", async () => {
    expect(await unmet(await waiting(about))).toEqual({ "evaluation named": "none named" });
    expect(await unmet(await waiting(about, { evalRunId: 7, agentVersion: "1.0.0" }))).toEqual({
      "evaluation named": "none named",
    });
    expect(await unmet(await waiting(about, { evalRunId: good }))).toMatchObject({ "agent version": "1.0.0" });
    expect(await unmet(await waiting({ evalRunId: "run-nowhere" }))).toEqual({ "evaluation found": "no such run" });
    const other = await bench.host.newRun("other");
    expect(await unmet(await waiting({ evalRunId: other }))).toEqual({ "evaluation found": "no such run" });
    const plain = await bench.host.newRun();
    expect(await unmet(await waiting({ evalRunId: plain }))).toEqual({ "evaluation found": "another kind of run" });
  });

  test("stays closed with one of another evaluation, agent, version or suite", async () => {
    expect(await unmet(await waiting({ evalRunId: good }, { evalRunId: bad }))).toEqual({ "evaluation named": bad });
    expect(await unmet(await waiting({ evalRunId: good, agentId: "local.test.else" }))).toMatchObject({
      agent: "local.test.echo",
    });
    const named = { evalRunId: good, agentVersion: "1.1.0" };
    expect(await unmet(await waiting(about, named))).toMatchObject({ "agent version": "1.0.0" });
    expect(await unmet(await waiting({ ...about, agentVersion: "1.0.0" }, named))).toEqual({
      "agent version named": "1.1.0",
    });
    const json = suiteOf([goldenTask("a", "a")], { suiteId: "local.test.evals.else" });
    await bench.host.ask("PUT", "/v1/host/assay/suites/local.test.evals.else@1.0.0", { json });
    const elsewhere = { evalRunId: good, suite: "local.test.evals.else@1.0.0" };
    expect(await unmet(await waiting(elsewhere))).toMatchObject({ suite: SUITE, "suite content": expect.any(String) });
    expect(await unmet(await waiting({ evalRunId: good, agentVersion: "7.0.0" }))).toHaveProperty("agent content");
  });

  test("stays closed with one that is too bad, too old, or of some tasks", async () => {
    expect(await unmet(await waiting({ evalRunId: bad }))).toEqual({ score: "0.5 and not passed, as scored" });
    await granted(await waiting({ evalRunId: bad, requiredPassScore: 0.5 }));
    expect(await unmet(await waiting({ evalRunId: bad, requiredPassScore: 0.51 }))).toHaveProperty("score");
    const selected = await bench.evaluated("1.0.0", { taskIds: ["a"] });
    expect(await unmet(await waiting({ evalRunId: selected }))).toEqual({
      "all tasks": expect.stringMatching(/^1 tasks without b, c, d /),
    });
    const young = await waiting({ evalRunId: good, maxAgeSec: 0.001 });
    expect(await unmet(young)).toHaveProperty("age");
  });

  test("stays closed with one of another workspace than its own", async () => {
    const evalRunId = await bench.evaluated("1.0.0", {}, "west");
    const found = { "evaluation found": "no such run" };
    expect(await unmet(await waiting({ evalRunId }, {}, {}, "east"))).toEqual(found);
    await granted(await waiting({ evalRunId }, {}, {}, "west"));
  });

  test("opens for no override, and can be rejected", async () => {
    const runId = await waiting({ evalRunId: bad }, {}, { override: { requiredRole: "owner" } });
    const override = { ...GRANT, override: true, reason: "I know it works." };
    expect(await unmet(runId, "owner", override)).toHaveProperty("score");
    expect((await gates.answer(runId, { decision: "rejected" })).statusCode).toBe(200);
    await gates.until(runId, (run) => run.status === "failed");
  });

  test("tells how the evaluation stands only to who may decide, and notes that they tried", async () => {
    const runId = await waiting({ evalRunId: bad });
    const details = expectError(await gates.answer(runId, GRANT, { as: "viewer" }), "forbidden");
    expect(details).not.toHaveProperty("conditions");
    await unmet(runId);
    const noted = (await bench.audit("interrupt.evidence_unmet")).filter(({ target }) => target === runId);
    expect(noted).toHaveLength(1);
    expect(noted[0]?.details["conditions"]).toContainEqual(expect.objectContaining({ condition: "score", met: false }));
  });

  /** Somebody else than whoever starts the runs. */
  const judgedByRita = async (runId: string, taskId: string, label: "pass" | "fail") => {
    const caller = await enrol(bench.host.store, "rita");
    await judgeTask(bench.host.host, { caller, runId, taskId, request: { label }, record: () => undefined });
  };

  test("counts what people overrode only where it says so", async () => {
    const evalRunId = await bench.evaluated(BAD_VERSION);
    for (const task of ["a", "b"]) await judgedByRita(evalRunId, task, "pass");
    expect(await unmet(await waiting({ evalRunId }))).toEqual({ score: "0.5 and not passed, as scored" });
    await granted(await waiting({ evalRunId, acceptHumanOverrides: true }));
  });

  test("and a promotion never open by what the one who asks overrode, and close by it", async () => {
    const agent = bench.about("judge-in-own-cause");
    await agent.policy({ promote: { test: { requiredEval: { suite: SUITE, acceptHumanOverrides: true } } } });
    const evalRunId = await agent.evaluated(BAD_VERSION);
    for (const task of ["a", "b"]) expect((await judge(evalRunId, task, { label: "pass" })).statusCode).toBe(201);
    const wanted = { version: BAD_VERSION, toState: "test", evalRunId } as const;
    const found = async () => conditionsIn(expectError(await agent.send(wanted), "eval_gate_unmet"))["score"]?.found;
    const alone = "0.5 and not passed, with 0 human overrides, without those of ada, who asks for this";
    expect(await found()).toBe(alone);
    expect(await unmet(await waiting({ evalRunId, acceptHumanOverrides: true }))).toEqual({ score: alone });
    await judgedByRita(evalRunId, "a", "pass");
    expect(await found()).toContain("0.75 and not passed, with 1 human overrides, without");
    await judgedByRita(evalRunId, "b", "pass");
    await judge(evalRunId, "a", { label: "fail" });
    expect(await found()).toBe("0.75 and not passed, with 2 human overrides");
    await judge(evalRunId, "a", { label: "pass" });
    await agent.done(wanted);
  });

  test("and a promotion never open by what the one who asks withdraws of others", async () => {
    const agent = bench.about("withdrawn-in-own-cause");
    await agent.policy({ promote: { test: { requiredEval: { suite: SUITE, acceptHumanOverrides: true } } } });
    const evalRunId = await agent.evaluated("1.0.0");
    await judgedByRita(evalRunId, "a", "fail");
    const wanted = { toState: "test", evalRunId } as const;
    const found = async () => conditionsIn(expectError(await agent.send(wanted), "eval_gate_unmet"))["score"]?.found;
    expect(await found()).toBe("0.75 and not passed, with 1 human overrides");
    const [said] = (await bench.host.ask("GET", `/v1/host/assay/annotations?runId=${evalRunId}`)).json().annotations;
    const withdrawn = await bench.host.ask("POST", `/v1/host/assay/annotations/${said.annotationId}:retract`, {
      json: { reason: "in my way" },
    });
    expect(withdrawn.statusCode, withdrawn.payload).toBe(200);
    expect(await found()).toContain("0.75 and not passed, with 1 human overrides, without");
    expect(await unmet(await waiting({ evalRunId, acceptHumanOverrides: true }))).toHaveProperty("score");
  });

  test("and a promotion, where voters have to be independent, never open by principals that no owner confirmed", async () => {
    const agent = bench.about("judged-by-made-up-people");
    const gate = { requiredRole: "reviewer", requireIndependentVoters: true };
    const requiredEval = { suite: SUITE, acceptHumanOverrides: true };
    await agent.policy({ promote: { test: { requiredEval, gate } } });
    const evalRunId = await agent.evaluated(BAD_VERSION);
    const key = { principal: "made-up", roles: ["reviewer"], kind: "user" };
    const made = await bench.host.ask("POST", "/v1/host/assay/keys", { json: key });
    expect(made.statusCode, made.payload).toBe(201);
    for (const task of ["a", "b"]) {
      const path = `/v1/host/assay/evals/${evalRunId}/tasks/${task}:judge`;
      const headers = { authorization: `Bearer ${made.json().key}` };
      const judged = await bench.host.ask("POST", path, { headers, json: { label: "pass" } });
      expect(judged.statusCode, judged.payload).toBe(201);
    }
    const wanted = { version: BAD_VERSION, toState: "test", evalRunId } as const;
    const shown = conditionsIn(expectError(await agent.send(wanted), "run_state_conflict"))["score"]?.found;
    const left =
      "0.5 and not passed, with 0 human overrides, without those of ada, who asks for this, and of principals";
    expect(shown).toContain(left);
    const demand = { evalRunId, acceptHumanOverrides: true };
    const strict = { requireIndependentVoters: true };
    expect((await unmet(await waiting(demand, {}, strict)))["score"]).toContain(left);
    // Elsewhere the principal counts as any other.
    await granted(await waiting(demand));
    const caller = await enrol(bench.host.store, "olga", { roles: ["owner"] });
    await confirmPrincipal(bench.host.host, { caller, principal: "made-up", record: () => undefined });
    await granted(await waiting(demand, {}, strict));
  });

  /** Does something right before the unit is written that rests on an evaluation. */
  const meanwhile = (act: () => Promise<unknown>) => {
    const store = bench.host.store as { commit: (unit: Unit) => Promise<Committed> };
    const { commit } = store;
    store.commit = async (unit) => {
      if (unit.preconditions === undefined) return commit(unit);
      store.commit = commit;
      await act();
      return commit(unit);
    };
  };

  test("is decided anew when people judge the evaluation between looking and writing", async () => {
    const evalRunId = await bench.evaluated("1.0.0");
    const runId = await waiting({ evalRunId, acceptHumanOverrides: true });
    meanwhile(() => judge(evalRunId, "a", { label: "fail" }));
    expect(await unmet(runId)).toEqual({ score: "0.75 and not passed, with 1 human overrides" });
    const untouched = await waiting({ evalRunId });
    meanwhile(() => judge(evalRunId, "b", { label: "fail" }));
    await granted(untouched);
    const other = await bench.evaluated("1.0.0");
    const unmoved = await waiting({ evalRunId: other, acceptHumanOverrides: true });
    meanwhile(() => judge(evalRunId, "c", { label: "fail" }));
    await granted(unmoved);
  });

  test("is decided anew when the evaluation is deleted between looking and writing", async () => {
    const evalRunId = await bench.evaluated("1.0.0");
    const runId = await waiting({ evalRunId });
    meanwhile(() => bench.host.ask("DELETE", `/v1/host/assay/runs/${evalRunId}`));
    expect(await unmet(runId)).toEqual({ "evaluation found": "no such run" });
  });

  test("and a promotion are alike in this", async () => {
    const agent = bench.about("raced");
    await agent.policy({ promote: { test: { requiredEval: { suite: SUITE, acceptHumanOverrides: true } } } });
    const evalRunId = await agent.evaluated("1.0.0");
    meanwhile(() => judge(evalRunId, "a", { label: "fail" }));
    const refused = expectError(await agent.send({ toState: "test", evalRunId }), "eval_gate_unmet");
    expect(conditionsIn(refused)["score"]).toMatchObject({ found: "0.75 and not passed, with 1 human overrides" });
    const deleted = await agent.evaluated("1.0.0");
    meanwhile(() => bench.host.ask("DELETE", `/v1/host/assay/runs/${deleted}`));
    expectError(await agent.send({ toState: "test", evalRunId: deleted }), "eval_gate_unmet");
    expect((await agent.list()).json()[0].state).toBe("draft");
  });
});
