import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { definitionHash } from "../../../src/engine/workflows/plans.ts";
import { loadSuite, requireSuite } from "../../../src/evals/suite/load-suite.ts";
import { keepDraft } from "../../../src/evals/suite/replace-suite.ts";
import type { RequiredEval } from "../../../src/protocol/promotion/evidence.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { conditionsIn, DeploymentBench, SUITE } from "../../../src/testing/deployment-bench.ts";
import { ADA } from "../../../src/testing/engine.ts";
import { goldenTask, suiteOf } from "../../../src/testing/eval-bench.ts";
import { GateClient } from "../../../src/testing/gate-host.ts";
import { expectError } from "../../../src/testing/host.ts";
import { workflow } from "../../../src/testing/workflow.ts";

const GRANT = { decision: "granted" };

describe.each(HTTP_STORES)("the suite that a gate asks for, on %s,", (_, open) => {
  let bench: DeploymentBench;
  let gates: GateClient;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    bench = await DeploymentBench.on(opened.store);
    gates = new GateClient(bench.host);
  });
  afterAll(async () => {
    await bench.host.close();
    await drop();
  });

  const gated = (id: string, requiredEval: RequiredEval, version = "1.0.0") =>
    workflow({
      id,
      version,
      nodes: {
        gate: {
          typeId: "core.openwop.governance.approvalGate",
          config: { requiredRole: "reviewer", requiredEval },
          inputs: { evalRunId: { type: "variable", variableName: "evalRunId" } },
        },
        after: "core.noop",
      },
      edges: ["gate>after"],
      variables: [{ name: "evalRunId", type: "string" }],
    } as Parameters<typeof workflow>[0]);
  const register = (json: object) => bench.host.ask("POST", "/v1/workflows", { json });
  const about = (suite: string): RequiredEval => ({ suite, agentId: "local.test.echo", agentVersion: "1.0.0" });
  const keep = (name: string, tasks: readonly string[]) => {
    const suite = suiteOf(
      tasks.map((one) => goldenTask(one, one)),
      { suiteId: `local.test.evals.${name}` },
    );
    return keepDraft(bench.host.host, ADA, requireSuite(loadSuite(Buffer.from(JSON.stringify(suite))), "suite"));
  };
  const granting = async (id: string, evalRunId: string) =>
    gates.answer(await gates.waiting(id, "owner", { inputs: { evalRunId } }), GRANT);

  test("is pinned at registration: other content under its version is no evidence, and the refusal says so", async () => {
    const ref = "local.test.evals.pinned@1.0.0";
    await keep("pinned", ["a", "b"]);
    const definition = gated("pinned", about(ref));
    expect((await register(definition)).statusCode).toBe(201);
    const before = await bench.evaluated("1.0.0", {}, "owner", ref);
    expect((await granting("pinned", before)).statusCode).toBe(200);
    expect(await keep("pinned", ["easy"])).toBe("replaced");
    const after = await bench.evaluated("1.0.0", {}, "owner", ref);
    const conditions = conditionsIn(expectError(await granting("pinned", after), "eval_gate_unmet"));
    expect(conditions["suite content"]).toMatchObject({
      met: false,
      found: expect.stringContaining(`other content of ${ref}`),
    });
    const again = expectError(await register(definition), "validation_error");
    expect(again["problem"]).toContain("give the workflow another version");
    expect((await register(gated("pinned", about(ref), "1.0.1"))).statusCode).toBe(201);
    expect((await granting("pinned", after)).statusCode).toBe(200);
  });

  test("leaves the hash and the text of the definition as they are, and is pinned once", async () => {
    const definition = gated("hashed", about(SUITE));
    const first = (await register(definition)).json();
    expect(first).toMatchObject({ created: true, hash: definitionHash(definition) });
    expect((await register(definition)).json()).toMatchObject({ created: false, hash: first.hash });
    expect((await bench.host.ask("GET", "/v1/workflows/hashed")).json()).toEqual(definition);
  });

  test.each([
    ["a suite that is not here", about("local.test.evals.nowhere@1.0.0"), "there is no suite"],
    ["a suite without a version", about("local.test.evals.echo"), "names no version"],
    [
      "other content than the suite has",
      { ...about(SUITE), suiteSha256: "0".repeat(64) },
      "suiteSha256 is not that of",
    ],
    ["a mode that the suite does not declare", { ...about(SUITE), evidence: { modes: ["rubric"] } }, "names rubric"],
    ["a task that the suite does not have", { ...about(SUITE), evidence: { tasks: ["z"] } }, "names z"],
  ] as [string, RequiredEval, string][])("is refused at registration with %s", async (_, required, problem) => {
    const details = expectError(await register(gated("refused", required)), "validation_error");
    expect(details).toMatchObject({ nodeId: "gate", problem: expect.stringContaining(problem) });
    expectError(await bench.host.ask("GET", "/v1/workflows/refused"), "not_found");
  });

  test("of a workflow that an older version registered counts as it is here now", async () => {
    const definition = gated("older", about(SUITE));
    const hash = definitionHash(definition);
    const write = { tenant: "t1", workflowId: "older", hash, definition: JSON.stringify(definition), atMs: Date.now() };
    await bench.host.store.commit({ tenant: "t1", workflows: [write] });
    expect((await granting("older", await bench.evaluated("1.0.0"))).statusCode).toBe(200);
  });
});
