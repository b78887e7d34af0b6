import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Discovery } from "../../../src/protocol/discovery.ts";
import { AgentDeployment, AgentDeployments } from "../../../src/protocol/promotion/api.ts";
import { matches, parse } from "../../../src/protocol/schema.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { conditionsIn, DeploymentBench } from "../../../src/testing/deployment-bench.ts";
import { until } from "../../../src/testing/engine.ts";
import { expectError, KEYS } from "../../../src/testing/host.ts";
import { ended } from "../../../src/testing/workbench.ts";

describe.each(HTTP_STORES)("deployments on %s", (_, open) => {
  let bench: DeploymentBench;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const opened = await open();
    drop = opened.drop;
    bench = await DeploymentBench.on(opened.store);
  });
  afterAll(async () => {
    await bench.host.close();
    await drop();
  });

  test("are advertised with their states and channels", async () => {
    const discovery = parse(Discovery, (await bench.host.ask("GET", "/.well-known/openwop")).json(), "discovery");
    expect(discovery.agents?.deployment).toEqual({
      supported: true,
      channels: ["stable", "canary", "latest"],
      canary: true,
      rollback: true,
      states: ["draft", "test", "staged", "active", "paused", "deprecated", "rolled-back"],
    });
  });

  test("begin with every installed version as a draft, by precedence", async () => {
    const listed = (await bench.about("listed").list()).json();
    expect(matches(AgentDeployments, listed)).toBe(true);
    expect(listed.map(({ version }: AgentDeployment) => version)).toEqual([
      "1.0.0",
      "1.1.0",
      "1.10.0",
      "2.0.0-rc.1",
      "2.0.0",
      "6.6.6",
    ]);
    expect(new Set(listed.map(({ state }: AgentDeployment) => state))).toEqual(new Set(["draft"]));
  });

  test("go one step at a time, each told by a run of its own and by the audit chain", async () => {
    const agent = bench.about("stepping");
    expectError(await agent.send({ toState: "active" }), "validation_error");
    const record = await agent.promoted("1.0.0");
    expect(parse(AgentDeployment, record, "record")).toEqual({
      agentId: "local.test.stepping",
      version: "1.0.0",
      state: "active",
      channels: ["stable"],
    });
    const noted = (await agent.audit("deployment.promoted")).filter(({ target }) => target.includes("stepping"));
    expect(noted.map(({ actor, details }) => [actor, details["fromState"], details["toState"]])).toEqual([
      ["ada", "draft", "test"],
      ["ada", "test", "staged"],
      ["ada", "staged", "active"],
    ]);
    const runId = String(noted[2]?.details["runId"]);
    expect(await agent.types(runId)).toEqual([
      "run.started",
      "authorization.decided",
      "node.started",
      "deployment.promoted",
      "node.completed",
      "run.completed",
    ]);
    const [, decided] = await agent.events(runId);
    expect(decided?.payload).toEqual({
      principal: "ada",
      action: "deploy:promote",
      resource: "agent:local.test.stepping@1.0.0",
      allowed: true,
    });
  });

  test("are undone by the way back, and paused, deprecated and shared by their own words", async () => {
    const agent = bench.about("words");
    await agent.promoted("1.0.0");
    await agent.promoted("1.1.0", "active", { canaryPercent: 20 });
    expect(await agent.done({ version: "1.1.0", transition: "adjust-canary", canaryPercent: 60 })).toMatchObject({
      canaryPercent: 60,
    });
    expect(await agent.done({ version: "1.1.0", transition: "rollback" })).toMatchObject({
      state: "rolled-back",
      rollbackPointer: "1.0.0",
    });
    expect(await agent.done({ transition: "pause" })).toMatchObject({ state: "paused" });
    expect(await agent.done({ toState: "active" })).toMatchObject({ state: "active", channels: ["stable"] });
    expect(await agent.done({ transition: "deprecate" })).toMatchObject({ state: "deprecated" });
    expect(await agent.deploymentEvents()).toEqual(
      expect.arrayContaining(["deployment.canary.adjusted", "deployment.rolled-back", "deployment.state.changed"]),
    );
  });

  test("need the scope of the word, and a refusal leaves a run that says so and no event of a deployment", async () => {
    const agent = bench.about("denied");
    for (const as of ["viewer", "narrow", "stranger"] as const) {
      const details = expectError(await agent.send({ toState: "test" }, as), "forbidden");
      expect(details["scopeRequired"]).toBe("deploy:promote");
      expect(conditionsIn(details)["authorisation"]).toMatchObject({ wanted: "scope deploy:promote", met: false });
      const events = await agent.events(String(details["runId"]));
      expect(events.map(({ type }) => type)).toEqual([
        "run.started",
        "authorization.decided",
        "node.started",
        "node.failed",
        "run.failed",
      ]);
      expect(events[1]?.payload).toMatchObject({ principal: KEYS[as].principal, allowed: false });
      expect(events[3]?.payload).toMatchObject({ attempts: 1 });
    }
    const scopes = {
      rollback: "deploy:rollback",
      pause: "deploy:pause",
      deprecate: "deploy:pause",
      "adjust-canary": "deploy:promote",
    } as const;
    for (const [transition, scope] of Object.entries(scopes)) {
      const answered = await agent.send({ transition: transition as keyof typeof scopes }, "viewer");
      expect(expectError(answered, "forbidden")["scopeRequired"]).toBe(scope);
    }
    expect((await agent.list()).json()[0]).toMatchObject({ state: "draft" });
    const refused = (await agent.audit("deployment.refused")).filter(({ target }) => target.includes("denied"));
    expect(refused.map(({ actor }) => actor)).toEqual(["vic", "ada", "sam", "vic", "vic", "vic", "vic"]);
  });

  test("are refused again and again without a run for each time", async () => {
    const agent = bench.about("flooded");
    const runIds = new Set<unknown>();
    for (let i = 0; i < 5; i++) {
      runIds.add(expectError(await agent.send({ toState: "test" }, "viewer"), "forbidden")["runId"]);
    }
    expect(runIds.size).toBe(1);
  });

  test("name what is wrong with a request, and change nothing", async () => {
    const agent = bench.about("wrong");
    for (const request of [
      { toState: "active" },
      { toState: "test", channel: "stable" },
      { transition: "pause" },
      { transition: "promote" },
      { transition: "adjust-canary", canaryPercent: 5 },
    ] as const) {
      const details = expectError(await agent.send(request), "validation_error");
      expect(conditionsIn(details)).toMatchObject({ authorisation: { met: true }, transition: { met: false } });
    }
    for (const request of [
      { toState: "test", canaryPercent: 101 },
      { toState: "live" },
      { transition: "resume" },
      { toState: "test", force: true },
      { version: 1 },
    ]) {
      expectError(await agent.send(request as never), "validation_error");
    }
    expectError(await agent.send({ version: "9.9.9", toState: "test" }), "not_found");
    expect(await agent.deploymentEvents()).not.toHaveLength(0);
    expect((await agent.list()).json().every(({ state }: AgentDeployment) => state === "draft")).toBe(true);
  });

  test("of other tenants do not exist, and those of a workspace are its own", async () => {
    const agent = bench.about("apart");
    await agent.promoted("1.0.0");
    expectError(await agent.list("other"), "not_found");
    expectError(await agent.send({ toState: "test" }, "other"), "not_found");
    expect((await agent.list("east")).json()[0]).toMatchObject({ state: "draft" });
    await agent.done({ toState: "test" }, "east");
    expect((await agent.list("west")).json()[0]).toMatchObject({ state: "draft" });
    expect((await agent.list()).json()[0]).toMatchObject({ state: "active" });
  });

  test("happen once for one Idempotency-Key, and the key is no way round the scope", async () => {
    const agent = bench.about("keyed");
    const headers = { "idempotency-key": "one-promotion" };
    const first = await agent.send({ toState: "test" }, "owner", headers);
    const again = await agent.send({ toState: "test" }, "owner", headers);
    expect([first.statusCode, again.payload]).toEqual([200, first.payload]);
    expect(again.headers["openwop-idempotent-replay"]).toBe("true");
    expectError(await agent.send({ toState: "test" }, "viewer", headers), "idempotency_key_mismatch");
  });

  test("that race are one: of many that promote one version, one does", async () => {
    const agent = bench.about("raced");
    await agent.promoted("1.0.0", "staged");
    const answers = await Promise.all(Array.from({ length: 8 }, () => agent.send({ toState: "active" })));
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, ...Array.from({ length: 7 }, () => 400)]);
    const events = await Promise.all(
      (await agent.audit("deployment.promoted"))
        .filter(({ target, details }) => target.includes("raced") && details["toState"] === "active")
        .map(({ details }) => agent.types(String(details["runId"]))),
    );
    expect(events).toHaveLength(1);
  });

  test("that race on one channel come one after the other, and one of them is on top", async () => {
    const agent = bench.about("crowded");
    const versions = ["1.0.0", "1.1.0", "1.10.0", "2.0.0"];
    for (const version of versions) await agent.promoted(version, "staged");
    const answers = await Promise.all(versions.map((version) => agent.send({ version, toState: "active" })));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
    const listed: AgentDeployment[] = (await agent.list()).json();
    expect(listed.filter(({ state }) => state === "active")).toHaveLength(4);
    expect(listed.filter(({ channels }) => channels?.includes("stable"))).toHaveLength(1);
  });

  test("replay as they were, and deploy nothing by it", async () => {
    const agent = bench.about("replayed");
    await agent.promoted("1.0.0", "test");
    const [noted] = (await agent.audit("deployment.promoted")).filter(({ target }) => target.includes("replayed"));
    const runId = String(noted?.details["runId"]);
    const { runId: fork } = (
      await agent.host.ask("POST", `/v1/runs/${runId}:fork`, { json: { mode: "replay", fromSeq: 0 } })
    ).json();
    await until(agent.host.store, fork, ended);
    expect(await agent.types(fork)).toEqual(await agent.types(runId));
    expect((await agent.list()).json()[0]).toMatchObject({ state: "test" });
  });
});

test("deployments that are switched off leave no trace", async () => {
  const { testHost } = await import("../../../src/testing/host.ts");
  const host = await testHost({ capabilities: ["agents", "evalSuite"] });
  try {
    expectError(await host.ask("GET", "/v1/agents/local.test.echo/deployments"), "not_found");
    const json = { version: "1.0.0", transition: "promote", toState: "test" };
    expectError(await host.ask("POST", "/v1/agents/local.test.echo/deployments", { json }), "not_found");
    expectError(await host.ask("GET", "/v1/host/assay/promotion-policies"), "not_found");
    const { agents } = (await host.ask("GET", "/.well-known/openwop")).json();
    expect(agents).not.toHaveProperty("deployment");
  } finally {
    await host.close();
  }
});
