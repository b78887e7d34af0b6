import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PromotionPolicy } from "../../../src/protocol/promotion/api.ts";
import { parse } from "../../../src/protocol/schema.ts";
import { idIn } from "../../../src/store/port/documents.ts";
import type { Unit } from "../../../src/store/port/store.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { DeploymentBench, SUITE } from "../../../src/testing/deployment-bench.ts";
import { goldenTask, suiteOf } from "../../../src/testing/eval-bench.ts";
import { expectError, type Who } from "../../../src/testing/host.ts";

const POLICIES = "/v1/host/assay/promotion-policies";

describe("a promotion policy", () => {
  let bench: DeploymentBench;
  let beforeTransition = async () => {};
  beforeAll(async () => {
    const store = await openSqliteStore({ path: ":memory:" });
    const commit = async (unit: Unit) => {
      const act = beforeTransition;
      if (unit.documents?.some((write) => idIn(write).kind === "deployment")) {
        beforeTransition = async () => {};
        await act();
      }
      return store.commit(unit);
    };
    bench = await DeploymentBench.on({ ...store, commit });
  });
  afterAll(() => bench.host.close());

  const put = (subject: string, json: unknown, as: Who = "owner") =>
    bench.host.ask("PUT", `${POLICIES}/${subject}`, { json, as });
  const reviewer = { gate: { requiredRole: "reviewer" } };

  test("is kept with who set it, read, listed, replaced and removed", async () => {
    const set = parse(PromotionPolicy, (await put("local.test.kept", { rollback: reviewer })).json(), "policy");
    expect(set).toMatchObject({ subject: "local.test.kept", revision: 1, setBy: "ada", rules: { rollback: reviewer } });
    expect((await put("local.test.kept", { pause: reviewer })).json()).toMatchObject({ revision: 2 });
    const read = (await bench.host.ask("GET", `${POLICIES}/local.test.kept`)).json();
    expect(read.rules).toEqual({ pause: reviewer });
    const { policies } = (await bench.host.ask("GET", POLICIES)).json();
    expect(policies.map(({ subject }: PromotionPolicy) => subject)).toContain("local.test.kept");
    expect((await bench.host.ask("DELETE", `${POLICIES}/local.test.kept`)).statusCode).toBe(204);
    expectError(await bench.host.ask("GET", `${POLICIES}/local.test.kept`), "not_found");
    expectError(await bench.host.ask("DELETE", `${POLICIES}/local.test.kept`), "not_found");
    const actions = [await bench.audit("promotion.policy.set"), await bench.audit("promotion.policy.removed")];
    expect(actions.map(({ length }) => length)).toEqual([2, 1]);
  });

  test("holds for a transition that is decided while it is set, also where it takes the place of another one", async () => {
    const agent = bench.about("raced");
    beforeTransition = async () => void (await agent.policy({ promote: { test: reviewer } }));
    expect(expectError(await agent.send({ toState: "test" }), "run_state_conflict")).toMatchObject({ waiting: true });
    const other = bench.about("replaced");
    await other.policy({});
    beforeTransition = async () => {
      expect((await bench.host.ask("DELETE", `${POLICIES}/${other.agentId}`)).statusCode).toBe(204);
      await other.policy({ promote: { test: reviewer } });
    };
    expect(expectError(await other.send({ toState: "test" }), "run_state_conflict")).toMatchObject({ waiting: true });
  });

  test("is refused where the policies of the tenant would be too large to be listed", async () => {
    const tasks = Array.from({ length: 4000 }, (_, i) => `${"t".repeat(200)}-${i}`);
    const json = suiteOf(
      tasks.map((taskId) => goldenTask(taskId, "x")),
      { suiteId: "local.test.evals.large" },
    );
    const suite = "local.test.evals.large@1.0.0";
    expect((await bench.host.ask("PUT", `/v1/host/assay/suites/${suite}`, { json })).statusCode).toBe(201);
    const large = { pause: { requiredEval: { suite, evidence: { tasks } } } };
    const answers: number[] = [];
    for (let i = 0; i < 6; i++) answers.push((await put(`local.test.large${i}`, large)).statusCode);
    expect(answers).toEqual([200, 200, 200, 200, 400, 400]);
    expect((await put("local.test.large0", large)).statusCode).toBe(200);
    expect((await bench.host.ask("DELETE", `${POLICIES}/local.test.large0`)).statusCode).toBe(204);
    expect((await put("local.test.large5", large)).statusCode).toBe(200);
    for (const i of [1, 2, 3, 5]) await bench.host.ask("DELETE", `${POLICIES}/local.test.large${i}`);
  });

  test("is not taken away by a request that lost its body", async () => {
    await put("local.test.lost", { pause: reviewer });
    expectError(await bench.host.ask("PUT", `${POLICIES}/local.test.lost`), "validation_error");
    expect((await bench.host.ask("GET", `${POLICIES}/local.test.lost`)).json().rules).toEqual({ pause: reviewer });
    expect((await put("local.test.lost", {})).json()).toMatchObject({ revision: 2, rules: {} });
  });

  test("of the default holds for agents without one of their own", async () => {
    const agent = bench.about("ordinary");
    await agent.policy({ promote: { test: { requiredEval: { suite: SUITE } } } }, "default");
    expectError(await agent.send({ toState: "test" }), "eval_gate_unmet");
    await agent.policy({});
    await agent.done({ toState: "test" });
    expect((await bench.host.ask("DELETE", `${POLICIES}/default`)).statusCode).toBe(204);
  });

  test("is asked about no transition with an evaluation whose name looks like a secret", async () => {
    const agent = bench.about("named");
    await agent.policy({ promote: { test: reviewer } });
    const sent = await agent.send({ toState: "test", evalRunId: "ghp_aB3dE6gH9jK2mN5paB3dE6gH9jK2mN5paB3d" });
    expect(expectError(sent, "validation_error")["problem"]).toContain("looks like a secret");
  });

  test("pins the suite it names to what it holds now", async () => {
    const { rules } = await bench.about("hashed").policy({ promote: { active: { requiredEval: { suite: SUITE } } } });
    expect(rules.promote.active.requiredEval.suiteSha256).toMatch(/^[0-9a-f]{64}$/);
  });

  test.each([
    ["a word that is none", { ship: reviewer }, "must not have"],
    ["a state that nothing is promoted to", { promote: { paused: reviewer } }, "must not have"],
    ["a rule that nobody knows", { pause: { gate: { requiredRole: "admin", mood: "good" } } }, "must not have"],
    ["a gate for nobody", { pause: { gate: { quorum: 2 } } }, "pause.gate needs requiredRole or requiredScope"],
    ["a role that nobody defined", { pause: { gate: { requiredRole: "wizard" } } }, "names the undefined role wizard"],
    [
      "an override for a role that nobody defined",
      { pause: { gate: { requiredRole: "admin", override: { requiredRole: "wizard" } } } },
      "names the undefined role wizard",
    ],
    ["a scope that there is not", { pause: { gate: { requiredScope: "deploy:all" } } }, "names scope deploy:all"],
    [
      "a bypass of nothing",
      { pause: { gate: { requiredRole: "admin", overrideBypassesQuorum: true } } },
      "without an override",
    ],
    [
      "an evaluation whose name looks like a secret",
      { pause: { requiredEval: { suite: SUITE, evalRunId: "ghp_aB3dE6gH9jK2mN5paB3dE6gH9jK2mN5paB3d" } } },
      "looks like a secret",
    ],
    ["a suite without a version", { pause: { requiredEval: { suite: "local.test.evals.echo" } } }, "names no version"],
    ["a suite that is not here", { pause: { requiredEval: { suite: "no.evals.here@1.0.0" } } }, "there is no suite"],
    [
      "a suite with other content",
      { pause: { requiredEval: { suite: SUITE, suiteSha256: "0".repeat(64) } } },
      "suiteSha256 is not that of",
    ],
    [
      "a bar above all scores",
      { pause: { requiredEval: { suite: SUITE, requiredPassScore: 2 } } },
      "requiredPassScore",
    ],
  ])("with %s is refused", async (_, rules, problem) => {
    const details = expectError(await put("local.test.wrong", rules), "validation_error");
    expect(details["problem"]).toContain(problem);
    expectError(await bench.host.ask("GET", `${POLICIES}/local.test.wrong`), "not_found");
  });

  test("is of an agent, or the default", async () => {
    expectError(await put("everything", {}), "validation_error");
  });

  test("is set by those who may, for the whole tenant, and seen by nobody else", async () => {
    expectError(await put("local.test.mine", {}, "viewer"), "forbidden");
    expectError(await put("local.test.mine", {}, "east"), "forbidden");
    await put("local.test.mine", { pause: reviewer });
    expectError(await bench.host.ask("GET", `${POLICIES}/local.test.mine`, { as: "other" }), "not_found");
    expect((await bench.host.ask("GET", POLICIES, { as: "other" })).json()).toEqual({ policies: [] });
    expectError(await bench.host.ask("DELETE", `${POLICIES}/local.test.mine`, { as: "east" }), "forbidden");
  });

  test("of the tenant holds in its workspaces", async () => {
    const agent = bench.about("everywhere");
    await agent.policy({ promote: { test: { requiredEval: { suite: SUITE } } } });
    expectError(await agent.send({ toState: "test" }, "east"), "eval_gate_unmet");
  });

  test("that cannot be read lets nothing pass", async () => {
    const agent = bench.about("garbled");
    const document = { tenant: "t1", kind: "promotion-policy", key: agent.agentId, revision: 1, atMs: 0 } as const;
    const body = JSON.stringify({ rules: { promote: { test: { gate: { votes: 9 } } } } });
    await agent.host.store.commit({ tenant: "t1", documents: [{ type: "put", document: { ...document, body } }] });
    expectError(await agent.send({ toState: "test" }), "unavailable");
    expect((await agent.list()).json()[0].state).toBe("draft");
  });
});
