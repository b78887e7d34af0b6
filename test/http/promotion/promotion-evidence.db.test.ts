import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PolicyEvidence } from "../../../src/protocol/promotion/api.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import {
  BAD_VERSION,
  conditionsIn,
  DeploymentBench,
  FIXTURE_SUITE,
  SUITE,
} from "../../../src/testing/deployment-bench.ts";
import { until } from "../../../src/testing/engine.ts";
import { expectError } from "../../../src/testing/host.ts";
import { ended } from "../../../src/testing/workbench.ts";

const TO_TEST = { version: "1.0.0", toState: "test" } as const;
const TO_STAGED = { version: "1.0.0", toState: "staged" } as const;

describe.each(HTTP_STORES)("a promotion that an evaluation has to speak for, on %s,", (_, open) => {
  let bench: DeploymentBench;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    bench = await DeploymentBench.on(opened.store, {
      evidence: {
        overriddenSummary: async () => ({ aggregateScore: 1, passed: true, overridden: 2 }),
        certificateProblems: async () => ["It expired."],
      },
    });
  });
  afterAll(async () => {
    await bench.host.close();
    await drop();
  });

  const required = async (name: string, more: Partial<PolicyEvidence> = {}): Promise<DeploymentBench> => {
    const agent = bench.about(name);
    await agent.policy({ promote: { staged: { requiredEval: { suite: SUITE, ...more } } } });
    await agent.done(TO_TEST);
    return agent;
  };
  const unmet = async (agent: DeploymentBench, evalRunId?: string, version = "1.0.0") => {
    const evidence = evalRunId === undefined ? {} : { evalRunId };
    const details = expectError(await agent.send({ ...TO_STAGED, version, ...evidence }), "eval_gate_unmet");
    const types = await agent.types(String(details["runId"]));
    expect(types.filter((type) => type.startsWith("deployment."))).toEqual([]);
    const failed = Object.values(conditionsIn(details)).filter(({ met }) => !met);
    return Object.fromEntries(failed.map(({ condition, found }) => [condition, found]));
  };

  test("comes about with one that passed, and the record names it", async () => {
    const agent = await required("proven");
    const evalRunId = await agent.evaluated("1.0.0");
    expect(await agent.done({ ...TO_STAGED, evalRunId })).toMatchObject({ state: "staged", evalRunId });
    const noted = (await agent.audit("deployment.promoted")).find(({ details }) => details["evalRunId"] === evalRunId);
    expect(noted?.details["conditions"]).toContainEqual({
      condition: "score",
      wanted: "passed by the suite's own bar",
      found: "1 and passed, as scored",
      met: true,
    });
  });

  test("is refused without one, with what is no evaluation, and with one of somebody else", async () => {
    const agent = await required("unproven");
    expect(await unmet(agent)).toEqual({ "evaluation named": "none named" });
    expect(await unmet(agent, "run-nowhere")).toEqual({ "evaluation found": "no such run" });
    expect(await unmet(agent, await agent.host.newRun())).toEqual({ "evaluation found": "another kind of run" });
    expect(await unmet(agent, await agent.host.newRun("other"))).toEqual({ "evaluation found": "no such run" });
    expect((await agent.list()).json()[0].state).toBe("test");
  });

  test("is refused with one of another agent or version, each said", async () => {
    const agent = await required("mismatch");
    const ofVersion = await agent.evaluated("1.1.0");
    expect(await unmet(agent, ofVersion)).toMatchObject({
      "agent version": "1.1.0",
      "agent content": expect.any(String),
    });
    const ofAgent = await bench.about("somebody").evaluated("1.0.0");
    expect(await unmet(agent, ofAgent)).toMatchObject({ agent: "local.test.somebody" });
  });

  test("is refused with one that did not pass, unless the policy is content with less", async () => {
    const agent = await required("failing");
    await agent.done({ version: BAD_VERSION, toState: "test" });
    const evalRunId = await agent.evaluated(BAD_VERSION);
    expect(await unmet(agent, evalRunId, BAD_VERSION)).toEqual({ score: "0.5 and not passed, as scored" });
    await agent.policy({ promote: { staged: { requiredEval: { suite: SUITE, requiredPassScore: 0.6 } } } });
    expect(await unmet(agent, evalRunId, BAD_VERSION)).toEqual({ score: "0.5 and not passed, as scored" });
    await agent.policy({ promote: { staged: { requiredEval: { suite: SUITE, requiredPassScore: 0.5 } } } });
    await agent.done({ ...TO_STAGED, version: BAD_VERSION, evalRunId });
  });

  test("is refused with one whose fixtures were never used, unless the policy allows that", async () => {
    const agent = await required("unasking", { suite: FIXTURE_SUITE });
    const evalRunId = await agent.evaluated("1.0.0", {}, "owner", FIXTURE_SUITE);
    expect(await unmet(agent, evalRunId)).toEqual({
      "tools and memory": "fixtures of 1 task were never used: looks-up",
    });
    const requiredEval = { suite: FIXTURE_SUITE, allowUnusedFixtures: true };
    await agent.policy({ promote: { staged: { requiredEval } } });
    await agent.done({ ...TO_STAGED, evalRunId });
  });

  test("is refused with one of some of the tasks", async () => {
    const agent = await required("selected");
    const evalRunId = await agent.evaluated("1.0.0", { taskIds: ["a"] });
    expect(await unmet(agent, evalRunId)).toEqual({ "all tasks": expect.stringMatching(/^1 tasks without b, c, d /) });
  });

  test("is refused with one of another suite, by name and by content", async () => {
    const agent = await required("suites");
    const other = "local.test.evals.other@1.0.0";
    const task = { taskId: "x", input: "x", expected: { kind: "golden", match: { strategy: "exact", value: "x" } } };
    const json = { suiteId: "local.test.evals.other", version: "1.0.0", modes: ["golden"], tasks: [task] };
    await agent.host.ask("PUT", `/v1/host/assay/suites/${other}`, { json });
    await agent.policy({ promote: { staged: { requiredEval: { suite: other } } } });
    const evalRunId = await agent.evaluated("1.0.0");
    expect(await unmet(agent, evalRunId)).toMatchObject({ suite: SUITE, "suite content": expect.any(String) });
  });

  test("is refused with a replay of one", async () => {
    const agent = await required("forked");
    const evalRunId = await agent.evaluated("1.0.0");
    const fork = await agent.host.ask("POST", `/v1/runs/${evalRunId}:fork`, { json: { mode: "replay", fromSeq: 0 } });
    const { runId } = fork.json();
    await until(agent.host.store, runId, ended);
    expect(await unmet(agent, runId)).toEqual({ "evaluation found": "another kind of run" });
  });

  test("is refused with another one than the policy names, and needs none named where it does", async () => {
    const agent = await required("named");
    const [first, second] = [await agent.evaluated("1.0.0"), await agent.evaluated("1.0.0")];
    await agent.policy({ promote: { staged: { requiredEval: { suite: SUITE, evalRunId: first } } } });
    expect(await unmet(agent, second)).toEqual({ "evaluation named": second });
    expect(await agent.done(TO_STAGED)).toMatchObject({ evalRunId: first });
  });

  test("counts what people overrode only where the policy says so, and says which it was", async () => {
    const agent = await required("overridden");
    await agent.done({ version: BAD_VERSION, toState: "test" });
    const evalRunId = await agent.evaluated(BAD_VERSION);
    expect(await unmet(agent, evalRunId, BAD_VERSION)).toEqual({ score: "0.5 and not passed, as scored" });
    await agent.policy({ promote: { staged: { requiredEval: { suite: SUITE, acceptHumanOverrides: true } } } });
    await agent.done({ ...TO_STAGED, version: BAD_VERSION, evalRunId });
    const noted = (await agent.audit("deployment.promoted")).find(({ details }) => details["evalRunId"] === evalRunId);
    expect(noted?.details["conditions"]).toContainEqual(
      expect.objectContaining({ condition: "score", found: "1 and passed, with 2 human overrides", met: true }),
    );
  });

  test("is refused where the judge has no valid certificate and the policy asks for one", async () => {
    const agent = await required("certified", { requireCertificate: true });
    expect(await unmet(agent, await agent.evaluated("1.0.0"))).toEqual({ "judge certificate": "It expired." });
  });

  test("is held to what it names, also where no policy asks for anything", async () => {
    const agent = bench.about("volunteered");
    expectError(await agent.send({ ...TO_TEST, evalRunId: "run-nowhere" }), "eval_gate_unmet");
    const evalRunId = await agent.evaluated("1.0.0");
    expect(await agent.done({ ...TO_TEST, evalRunId })).toMatchObject({ evalRunId });
  });
});
