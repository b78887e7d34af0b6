import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readInbox } from "../../../src/engine/gates/inbox.ts";
import { cancelRun } from "../../../src/engine/runs/change-run.ts";
import { AppError } from "../../../src/protocol/errors.ts";
import type { PolicyGate } from "../../../src/protocol/promotion/api.ts";
import type { Run } from "../../../src/protocol/runs/run.ts";
import type { Committed, Unit } from "../../../src/store/port/store.ts";
import { HTTP_STORES } from "../../../src/testing/both-stores.ts";
import { conditionsIn, DeploymentBench, SUITE } from "../../../src/testing/deployment-bench.ts";
import { ADA, until } from "../../../src/testing/engine.ts";
import { expectError } from "../../../src/testing/host.ts";
import { answer, enrol, outcomeOf } from "../../../src/testing/voters.ts";
import { change, ended } from "../../../src/testing/workbench.ts";

const GATE: PolicyGate = { requiredRole: "reviewer" };
const TO_TEST = { version: "1.0.0", toState: "test" } as const;

describe.each(HTTP_STORES)("a promotion on %s", (_, open) => {
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

  const gated = async (name: string, gate: PolicyGate = GATE): Promise<DeploymentBench> => {
    const agent = bench.about(name);
    await agent.policy({ promote: { test: { gate } } });
    return agent;
  };
  const waiting = async (agent: DeploymentBench) => {
    const details = expectError(await agent.send(TO_TEST), "run_state_conflict");
    return { details, runId: String(details["runId"]) };
  };
  const stateOf = async (agent: DeploymentBench) => (await agent.list()).json()[0].state;

  describe("that people have to let pass", () => {
    test("waits in their inbox, comes about when it is asked for again, and is told by one run", async () => {
      const agent = await gated("asked");
      const { details, runId } = await waiting(agent);
      expect(details).toMatchObject({
        gateId: `gate-${runId}`,
        inbox: "/v1/host/assay/inbox",
        resolve: `/v1/runs/${runId}/interrupts/gate-${runId}`,
        runStatus: "waiting-approval",
      });
      expect(conditionsIn(details)).toMatchObject({
        authorisation: { met: true },
        transition: { met: true },
        approval: {
          wanted: "granted by 1 with role reviewer, and not by the requester",
          found: "0 of 1 granted",
          met: false,
        },
      });
      const rita = await enrol(agent.host.store, "rita");
      const { items } = await readInbox(agent.host.host, rita, {});
      expect(items).toContainEqual(expect.objectContaining({ runId, title: "promote local.test.asked 1.0.0 to test" }));
      expect(await waiting(agent)).toMatchObject({ runId });
      expect(await stateOf(agent)).toBe("draft");
      await agent.vote(runId, "granted");
      expect(await stateOf(agent)).toBe("draft");
      expect(await agent.done(TO_TEST)).toMatchObject({ state: "test", approvalGateId: `gate-${runId}` });
      const types = await agent.types(runId);
      expect(types.filter((type) => type.startsWith("approval.") || type.startsWith("deployment."))).toEqual([
        "approval.granted",
        "deployment.promoted",
      ]);
      expect(types.at(-1)).toBe("run.completed");
      const promoted = (await agent.events(runId)).find(({ type }) => type === "deployment.promoted");
      expect(promoted?.payload).toMatchObject({ approvalGateId: `gate-${runId}` });
    });

    test("is not for whoever asked to let pass, unless the policy says so", async () => {
      const agent = await gated("self");
      const { runId } = await waiting(agent);
      const url = `/v1/runs/${runId}/interrupts/gate-${runId}`;
      const json = { resumeValue: { decision: "granted" } };
      expectError(await agent.host.ask("POST", url, { json }), "forbidden");
      await waiting(agent);
      const alone = await gated("alone", { ...GATE, forbidSelfApproval: false });
      const asked = await waiting(alone);
      const own = `/v1/runs/${asked.runId}/interrupts/gate-${asked.runId}`;
      expect((await alone.host.ask("POST", own, { json })).statusCode).toBe(200);
      await alone.done(TO_TEST);
    });

    test("needs as many different people as the policy says", async () => {
      const agent = await gated("quorum", { ...GATE, quorum: 2 });
      const { runId } = await waiting(agent);
      await agent.vote(runId, "granted", "rita");
      await agent.vote(runId, "granted", "rita");
      expect(conditionsIn((await waiting(agent)).details)["approval"]).toMatchObject({ found: "1 of 2 granted" });
      await agent.vote(runId, "granted", "rob");
      await agent.done(TO_TEST);
    });

    test("says so when all that is missing is a person", async () => {
      const agent = await gated("person", { ...GATE, minHumans: 1 });
      const { runId } = await waiting(agent);
      const robot = await enrol(agent.host.store, "robot", { kind: "agent" });
      await answer(agent.host.host, robot, runId, { decision: "granted" }, `gate-${runId}`);
      const found = "1 of 1 granted, 0 of 1 people among them";
      const { details } = await waiting(agent);
      expect(conditionsIn(details)["approval"]).toMatchObject({ found });
      expect(details["problem"]).toContain(found);
      await agent.vote(runId, "granted");
      await agent.done(TO_TEST);
    });

    test("does not pass when one of them says no; that is told once, and then people can be asked anew", async () => {
      const agent = await gated("rejected");
      const { runId } = await waiting(agent);
      await agent.vote(runId, "rejected");
      const details = expectError(await agent.send(TO_TEST), "forbidden");
      expect(conditionsIn(details)["approval"]).toMatchObject({ found: "rejected by rita", met: false });
      expect(await stateOf(agent)).toBe("draft");
      expect((await agent.types(runId)).filter((type) => type.startsWith("deployment."))).toEqual([]);
      expect((await waiting(agent)).runId).not.toBe(runId);
    });

    test("does not pass when nobody answers in time", async () => {
      const agent = await gated("silent", { ...GATE, timeoutSec: 0.05 });
      const { runId } = await waiting(agent);
      await until(agent.host.store, runId, ended);
      const details = expectError(await agent.send(TO_TEST), "forbidden");
      expect(conditionsIn(details)["approval"]).toMatchObject({ found: "1 approval asked, 0 given, timed out" });
    });

    test("does not pass when its run is cancelled", async () => {
      const agent = await gated("cancelled");
      const { runId } = await waiting(agent);
      await cancelRun(agent.host.host, { ...change(runId), caller: ADA });
      await until(agent.host.store, runId, ended);
      expectError(await agent.send(TO_TEST), "forbidden");
    });

    test("does not pass on a yes that was given too long ago", async () => {
      const agent = await gated("stale", { ...GATE, applyWithinSec: 0.05 });
      const { runId } = await waiting(agent);
      await agent.vote(runId, "granted");
      const run = await until(agent.host.store, runId, ended);
      expect(run.error?.code).toBe("deployment_not_applied");
      expectError(await agent.send(TO_TEST), "forbidden");
    });

    test.each(["immediate", "drain-current-node"])(
      "waits while its run is paused (%s), and its time goes on meanwhile",
      async (drainPolicy) => {
        const agent = await gated(`paused-${drainPolicy}`, { ...GATE, applyWithinSec: 1 });
        const { runId } = await waiting(agent);
        await agent.vote(runId, "granted");
        const { store } = agent.host;
        const granted = await until(store, runId, ({ nodes }) => nodes["apply"]?.dueAtMs !== undefined);
        const paused = await agent.host.ask("POST", `/v1/runs/${runId}:pause`, { json: { drainPolicy } });
        expect(paused.statusCode, paused.payload).toBe(202);
        const details = expectError(await agent.send(TO_TEST), "run_state_conflict");
        expect(conditionsIn(details)["approval"]?.found).toContain("is paused: resume it");
        await new Promise((resolve) => setTimeout(resolve, (granted.nodes["apply"]?.dueAtMs ?? 0) - Date.now() + 1));
        await agent.host.ask("POST", `/v1/runs/${runId}:resume`, { json: {} });
        expectError(await agent.send(TO_TEST), "forbidden");
        expect(await stateOf(agent)).toBe("draft");
      },
    );

    test("passes for exactly what was asked: another version, share or policy is another question", async () => {
      const agent = await gated("exact");
      const { runId } = await waiting(agent);
      await agent.vote(runId, "granted");
      const other = expectError(await agent.send({ ...TO_TEST, version: "1.1.0" }), "run_state_conflict");
      expect(other["runId"]).not.toBe(runId);
      await agent.policy({ promote: { test: { gate: { ...GATE, quorum: 2 } } } });
      const anew = await waiting(agent);
      expect(anew.runId).not.toBe(runId);
      expect(await stateOf(agent)).toBe("draft");
    });

    test("does not pass where it would take the place of another version by then", async () => {
      const agent = bench.about("prior");
      await agent.promoted("1.0.0");
      for (const version of ["1.1.0", "1.10.0"]) await agent.promoted(version, "staged");
      await agent.policy({ promote: { active: { gate: GATE } } });
      const asked = async (version: string) =>
        String(expectError(await agent.send({ version, toState: "active" }), "run_state_conflict")["runId"]);
      const first = await asked("1.1.0");
      await agent.vote(first, "granted");
      await agent.vote(await asked("1.10.0"), "granted");
      await agent.done({ version: "1.10.0", toState: "active" });
      expect(await asked("1.1.0")).not.toBe(first);
    });

    describe("does not pass with what was asked about it before", () => {
      /** The version has a share of canary, and nothing else. */
      const sharing = async (name: string): Promise<DeploymentBench> => {
        const agent = bench.about(name);
        await agent.promoted("1.0.0");
        await agent.promoted("1.1.0", "active", { channel: "canary" });
        await agent.promoted("2.0.0", "active", { channel: "canary", canaryPercent: 5 });
        return agent;
      };
      const asked = async (agent: DeploymentBench, request: Parameters<DeploymentBench["send"]>[0]) =>
        String(expectError(await agent.send(request), "run_state_conflict")["runId"]);
      const granted = async (agent: DeploymentBench, request: Parameters<DeploymentBench["send"]>[0]) => {
        const runId = await asked(agent, request);
        await agent.vote(runId, "granted");
        return runId;
      };
      const all = { version: "2.0.0", transition: "adjust-canary", canaryPercent: 100 } as const;
      const onStable = { version: "2.0.0", toState: "active", channel: "stable" } as const;

      test("where the version serves another channel by then", async () => {
        const agent = await sharing("wider");
        await agent.policy({ "adjust-canary": { gate: GATE } });
        const runId = await granted(agent, all);
        await agent.done(onStable);
        expect(await asked(agent, all)).not.toBe(runId);
      });

      test("where it has another share by then", async () => {
        const agent = await sharing("larger");
        await agent.policy({ promote: { active: { gate: GATE } } });
        const runId = await granted(agent, onStable);
        await agent.done(all);
        expect(await asked(agent, onStable)).not.toBe(runId);
      });

      test("where who comes back was paused by then", async () => {
        const agent = bench.about("paused-since");
        await agent.promoted("1.0.0");
        await agent.promoted("2.0.0");
        await agent.policy({ rollback: { gate: GATE } });
        const back = { version: "2.0.0", transition: "rollback" } as const;
        const runId = await granted(agent, back);
        await agent.done({ version: "1.0.0", transition: "pause" });
        expect(await asked(agent, back)).not.toBe(runId);
      });

      test("and shows where the version serves, and with which share", async () => {
        const agent = await sharing("shown");
        await agent.policy({ "adjust-canary": { gate: GATE } });
        const runId = await asked(agent, all);
        const { interrupts } = (await agent.host.store.readRun({ tenant: "t1" }, runId)) as Run;
        const shown = Object.values(interrupts).map(({ data }) => data["artifactData"]);
        const concerned = { agentId: agent.agentId, fromChannels: ["canary"], fromPercent: 5, canaryPercent: 100 };
        expect(shown).toContainEqual(expect.objectContaining(concerned));
      });
    });

    test("does not pass for another agent that has its name and version by then", async () => {
      const agent = await gated("swapped");
      const { runId } = await waiting(agent);
      await agent.vote(runId, "granted");
      agent.replace();
      expect((await waiting(agent)).runId).not.toBe(runId);
      expect(await stateOf(agent)).toBe("draft");
    });

    test("passes once: a yes is used up by what it was given for", async () => {
      const agent = bench.about("once");
      await agent.promoted("1.0.0");
      await agent.policy({ pause: { gate: GATE } });
      const pause = { transition: "pause" } as const;
      const runId = String(expectError(await agent.send(pause), "run_state_conflict")["runId"]);
      await agent.vote(runId, "granted");
      await agent.done(pause);
      await agent.done({ toState: "active" });
      expect(expectError(await agent.send(pause), "run_state_conflict")["runId"]).not.toBe(runId);
    });

    test("is asked for once by many, and applied once by many", async () => {
      const agent = await gated("crowd");
      const asked = await Promise.all(Array.from({ length: 6 }, () => waiting(agent)));
      expect(new Set(asked.map(({ runId }) => runId)).size).toBe(1);
      await agent.vote(String(asked[0]?.runId), "granted");
      const answers = await Promise.all(Array.from({ length: 6 }, () => agent.send(TO_TEST)));
      expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 400, 400, 400, 400, 400]);
      const types = await agent.types(String(asked[0]?.runId));
      expect(types.filter((type) => type === "deployment.promoted")).toHaveLength(1);
    });

    test("can be asked for again under the Idempotency-Key that was told to wait", async () => {
      const agent = await gated("patient");
      const headers = { "idempotency-key": "patience" };
      const first = await agent.send(TO_TEST, "owner", headers);
      const { runId } = expectError(first, "run_state_conflict");
      await agent.vote(String(runId), "granted");
      expect((await agent.send(TO_TEST, "owner", headers)).statusCode).toBe(200);
      expect((await agent.send(TO_TEST, "owner", headers)).headers["openwop-idempotent-replay"]).toBe("true");
    });

    test("is nothing that somebody without the role, or of another tenant, could let pass", async () => {
      const agent = await gated("guarded", { requiredRole: "admin" });
      const { runId } = await waiting(agent);
      expect(await outcomeOf(agent.vote(runId, "granted"))).toBe("forbidden");
      const json = { resumeValue: { decision: "granted" } };
      const url = `/v1/runs/${runId}/interrupts/gate-${runId}`;
      expectError(await agent.host.ask("POST", url, { json, as: "other" }), "not_found");
      await waiting(agent);
    });
  });

  test("that was approved and then left by all is applied all the same: no worker has to be there for it", async () => {
    const opened = await open();
    const nobody = await DeploymentBench.on(opened.store, { worker: false });
    try {
      await nobody.policy({ promote: { test: { gate: GATE } } });
      const { runId } = await waiting(nobody);
      await nobody.vote(runId, "granted");
      expect(await nobody.done(TO_TEST)).toMatchObject({ state: "test", approvalGateId: `gate-${runId}` });
      expect((await nobody.types(runId)).slice(-3)).toEqual(["deployment.promoted", "node.completed", "run.completed"]);
    } finally {
      await nobody.host.close();
      await opened.drop();
    }
  });

  test("whose commit fails has changed nothing, and the approval still stands", async () => {
    const agent = await gated("faulty");
    const { runId } = await waiting(agent);
    await agent.vote(runId, "granted");
    const store = agent.host.store as { commit: (unit: Unit) => Promise<Committed> };
    const { commit } = store;
    store.commit = async (unit) => {
      if (unit.documents === undefined) return commit(unit);
      store.commit = commit;
      throw new AppError("unavailable", { reason: "The database is away" });
    };
    expectError(await agent.send(TO_TEST), "unavailable");
    expect(await stateOf(agent)).toBe("draft");
    expect((await agent.types(runId)).filter((type) => type.startsWith("deployment."))).toEqual([]);
    await agent.done(TO_TEST);
  });

  test("that needs both people and an evaluation says how both stand, asks people first, and needs both", async () => {
    const agent = bench.about("both");
    await agent.policy({ promote: { test: { gate: GATE, requiredEval: { suite: SUITE } } } });
    const { runId, details } = await waiting(agent);
    expect(conditionsIn(details)).toMatchObject({ approval: { met: false }, "evaluation named": { met: false } });
    await agent.vote(runId, "granted");
    const unproven = expectError(await agent.send(TO_TEST), "eval_gate_unmet");
    expect(conditionsIn(unproven)).toMatchObject({ approval: { met: true }, "evaluation named": { met: false } });
    expect(unproven["runId"]).toBe(runId);
    const evalRunId = await agent.evaluated("1.0.0");
    const anew = expectError(await agent.send({ ...TO_TEST, evalRunId }), "run_state_conflict");
    expect(conditionsIn(anew)).toMatchObject({ score: { met: true }, approval: { met: false } });
    await agent.vote(String(anew["runId"]), "granted");
    await agent.done({ ...TO_TEST, evalRunId });
  });
});
