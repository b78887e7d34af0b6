import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EvidenceCoverage } from "../../../src/protocol/promotion/evidence.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { conditionsIn, DeploymentBench } from "../../../src/testing/deployment-bench.ts";
import { goldenTask, suiteOf } from "../../../src/testing/eval-bench.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { expectError } from "../../../src/testing/host.ts";

const GATE = "core.openwop.governance.approvalGate";
const RICH = "local.test.evals.rich@1.0.0";
const rubric = { kind: "rubric" as const, rubric: [{ criterion: "It is polite.", weight: 1 }] };
const TO_TEST = { version: "1.0.0", toState: "test" } as const;

describe.each(HTTP_STORES)("the modes and tasks that evidence needs, on %s,", (_, open) => {
  let bench: DeploymentBench;
  let gates: GateClient;
  let drop: () => Promise<void>;
  /** Golden tasks a and b of a suite that also has a rubric and looks for unsafe conduct. */
  let golden: string;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    bench = await DeploymentBench.on(opened.store);
    gates = new GateClient(bench.host);
    const tasks = [goldenTask("a", "a"), goldenTask("b", "b"), { taskId: "c", input: "c", expected: rubric }];
    const json = suiteOf(tasks, {
      suiteId: "local.test.evals.rich",
      modes: ["golden", "rubric", "adversarial", "live-shadow"],
    });
    const put = await bench.host.ask("PUT", `/v1/host/assay/suites/${RICH}`, { json });
    expect(put.statusCode, put.payload).toBe(201);
    golden = await bench.evaluated("1.0.0", { evalModes: ["golden"] }, "owner", RICH);
  });
  afterAll(async () => {
    await bench.host.close();
    await drop();
  });

  const policyFor = (evidence?: EvidenceCoverage) =>
    bench.policy({
      promote: { test: { requiredEval: { suite: RICH, ...(evidence === undefined ? {} : { evidence }) } } },
    });
  const unmet = (details: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.values(conditionsIn(details)).flatMap(({ condition, found, met }) => (met ? [] : [[condition, found]])),
    );
  const refused = async (evalRunId: string) =>
    unmet(expectError(await bench.send({ ...TO_TEST, evalRunId }), "eval_gate_unmet"));
  let made = 0;
  const waitingAt = async (requiredEval: object): Promise<string> => {
    const id = `covered-${++made}`;
    await gates.register(id, GATE, { requiredRole: "reviewer", requiredEval });
    return gates.waiting(id);
  };

  test("are all that the suite declares unless a policy names them; the refusal says which are missing and what to do", async () => {
    await policyFor();
    expect(await refused(golden)).toEqual({
      "all modes":
        "golden without rubric, adversarial (evaluate them too, or name the modes that suffice in requiredEval.evidence.modes)",
      "all tasks":
        "2 tasks without c (evaluate them too, or name the tasks that suffice in requiredEval.evidence.tasks)",
    });
  });

  test("can be those of an evaluation with evalModes golden on a richer suite, for a policy and for a gate", async () => {
    const runId = await waitingAt({ evalRunId: golden, requiredPassScore: 0.9, evidence: { modes: ["golden"] } });
    expect((await gates.answer(runId, { decision: "granted" })).statusCode).toBe(200);
    const strict = await waitingAt({ evalRunId: golden, requiredPassScore: 0.9 });
    expect(unmet(expectError(await gates.answer(strict, { decision: "granted" }), "eval_gate_unmet"))).toHaveProperty(
      "all modes",
    );
    await policyFor({ modes: ["golden"] });
    expect(await bench.done({ ...TO_TEST, evalRunId: golden })).toMatchObject({ state: "test", evalRunId: golden });
  });

  test("can be single tasks; an evaluation without one of them is refused by its name", async () => {
    const agent = bench.about("single");
    const evidence: EvidenceCoverage = { modes: ["golden"], tasks: ["a"] };
    await agent.policy({ promote: { test: { requiredEval: { suite: RICH, evidence } } } });
    const other = await agent.evaluated("1.0.0", { evalModes: ["golden"], taskIds: ["b"] }, "owner", RICH);
    const details = expectError(await agent.send({ ...TO_TEST, evalRunId: other }), "eval_gate_unmet");
    expect(unmet(details)).toEqual({ tasks: expect.stringMatching(/^1 tasks without a /) });
    const evalRunId = await agent.evaluated("1.0.0", { evalModes: ["golden"], taskIds: ["a"] }, "owner", RICH);
    await agent.done({ ...TO_TEST, evalRunId });
  });

  test("never include live tools unless live-shadow is named", async () => {
    const agent = bench.about("live");
    const evalRunId = await agent.evaluated(
      "1.0.0",
      { evalModes: ["golden", "live-shadow"], taskIds: ["a", "b"] },
      "owner",
      RICH,
    );
    const tasks = ["a", "b"];
    await agent.policy({
      promote: { test: { requiredEval: { suite: RICH, evidence: { modes: ["golden"], tasks } } } },
    });
    const details = expectError(await agent.send({ ...TO_TEST, evalRunId }), "eval_gate_unmet");
    expect(unmet(details)).toEqual({ "tools and memory": "live ones, by mode live-shadow" });
    const modes = ["golden" as const, "live-shadow" as const];
    await agent.policy({ promote: { test: { requiredEval: { suite: RICH, evidence: { modes, tasks } } } } });
    await agent.done({ ...TO_TEST, evalRunId });
  });

  test.each([
    ["a mode that is none", { modes: ["silver"] }, "modes"],
    ["a mode that the suite does not declare", { modes: ["regression"] }, "regression, which suite"],
    ["a task that the suite does not have", { tasks: ["a", "z"] }, "names z, which suite"],
    [
      "a task that the named modes do not have",
      { modes: ["golden"], tasks: ["c"] },
      "names c, which none of the modes",
    ],
    ["no mode", { modes: [] }, "modes"],
    ["no task", { tasks: [] }, "tasks"],
    ["a member that is none", { mode: ["golden"] }, "must not have"],
  ])("with %s are refused when the policy is set", async (_, evidence, problem) => {
    const json = { promote: { test: { requiredEval: { suite: RICH, evidence } } } };
    const answer = await bench.host.ask("PUT", "/v1/host/assay/promotion-policies/local.test.refused", { json });
    expect(expectError(answer, "validation_error")["problem"]).toContain(problem);
  });
});
