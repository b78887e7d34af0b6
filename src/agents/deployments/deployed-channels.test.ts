import { describe, expect, test } from "vitest";
import { agentOf, agentsOf, echo } from "../../testing/eval-bench.ts";
import { workbench } from "../../testing/workbench.ts";
import {
  CHANNEL_AGENT_ID,
  conformanceDeployments as fixedDeployments,
  withConformanceAgent,
} from "../conformance-agents.ts";
import { deployedChannels, drawVersion, serves } from "./deployed-channels.ts";
import type { Deployed, Deployments } from "./deployments.ts";
import { deploymentsWrite, listDeployments } from "./stored-deployments.ts";

const bench = workbench();
const AGENT = agentOf();
const PLACE = { tenant: "t1" };

async function deploy(agentHash: string, agentId = AGENT.agentId): Promise<void> {
  const now: Deployments = {
    agentId,
    versions: { [AGENT.version]: { state: "active", agentHash } },
    // Nobody can promote to the second one; a later version of this host may have let them.
    channels: { stable: [AGENT.version], nightly: [AGENT.version] },
    asked: [],
  };
  const documents = [deploymentsWrite(PLACE, now, { revision: 0 }, Date.now())];
  expect(await bench.store.commit({ tenant: "t1", documents })).toEqual({ ok: true });
}

const asked = (channel = "stable", tenant = "t1") => ({
  owner: { tenant, principal: "ada" },
  runId: "run-1",
  agentId: AGENT.agentId,
  channel,
});

describe("what a channel stands for", () => {
  test("is the version that was promoted, for those it was promoted for", async () => {
    await deploy(AGENT.contentHash);
    const channels = deployedChannels(bench.store, agentsOf([AGENT], echo));
    expect(await channels.versionFor(asked())).toBe("1.0.0");
    expect(await channels.versionFor(asked("latest"))).toBe("1.0.0");
    expect(await channels.versionFor(asked("nightly"))).toBeUndefined();
    expect(await channels.versionFor(asked("stable", "t2"))).toBeUndefined();
    expect(await channels.isActive(PLACE, AGENT.agentId, "stable")).toBe(true);
    expect(await channels.isActive(PLACE, AGENT.agentId, "nightly")).toBe(false);
  });

  test("is nothing where something else is installed under the version that was promoted, or nothing is", async () => {
    await deploy("f".repeat(64));
    expect(await deployedChannels(bench.store, agentsOf([AGENT], echo)).versionFor(asked())).toBeUndefined();
    expect(await deployedChannels(bench.store, agentsOf([], echo)).versionFor(asked())).toBeUndefined();
  });
});

test("the channel that a published workflow names leads to its agent until somebody decides about it", async () => {
  const known = { ...withConformanceAgent(agentsOf([], echo)), fixedDeployments };
  const channels = deployedChannels(bench.store, known);
  const named = { ...asked(), agentId: CHANNEL_AGENT_ID };
  expect(await channels.versionFor(named)).toBe("1.0.0");
  expect(await channels.isActive(PLACE, CHANNEL_AGENT_ID, "stable")).toBe(true);
  expect(await channels.versionFor({ ...named, channel: "canary" })).toBeUndefined();
  expect(await channels.isActive(PLACE, "core.conformance.identity-agent", "stable")).toBe(false);
  const shown = () => listDeployments(bench.store, known, PLACE, CHANNEL_AGENT_ID);
  const record = { agentId: CHANNEL_AGENT_ID, version: "1.0.0", state: "active", channels: ["stable"] };
  expect(await shown()).toEqual([record]);
  await deploy("f".repeat(64), CHANNEL_AGENT_ID);
  expect(await channels.versionFor(named)).toBeUndefined();
  expect(await shown()).toEqual([{ ...record, channels: ["nightly", "stable"] }]);
  expect(await channels.versionFor({ ...named, owner: { tenant: "t2" } })).toBe("1.0.0");
});

const deployed = (canaryPercent?: number, state: Deployed["state"] = "active"): Deployed => ({
  state,
  agentHash: "a",
  ...(canaryPercent === undefined ? {} : { canaryPercent }),
});

function deployments(versions: Readonly<Record<string, Deployed>>, stable = Object.keys(versions)): Deployments {
  return { agentId: "local.test.echo", versions, channels: { stable }, asked: [] };
}

/** Three standard deviations of a half at this many runs. */
const CLOSE = 0.025;
const RUNS = Array.from({ length: 4000 }, (_, i) => `run-${i}`);

function shares(now: Deployments, channel = "stable"): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const runId of RUNS) {
    const drawn = drawVersion(now, channel, runId) ?? "none";
    counted[drawn] = (counted[drawn] ?? 0) + 1 / RUNS.length;
  }
  return counted;
}

describe("the version a run gets", () => {
  test("is the same however often it is drawn, and another run may get another one", () => {
    const now = deployments({ "2.0.0": deployed(50), "1.0.0": deployed() });
    const drawn = RUNS.slice(0, 100).map((runId) => drawVersion(now, "stable", runId));
    expect(RUNS.slice(0, 100).map((runId) => drawVersion(now, "stable", runId))).toEqual(drawn);
    expect(new Set(drawn)).toEqual(new Set(["1.0.0", "2.0.0"]));
  });

  test("is drawn apart for each agent and channel", () => {
    const now = deployments({ "2.0.0": deployed(50), "1.0.0": deployed() });
    const both: Deployments = { ...now, channels: { ...now.channels, canary: ["2.0.0", "1.0.0"] } };
    const on = (channel: string, agentId = now.agentId) =>
      RUNS.slice(0, 50).map((runId) => drawVersion({ ...both, agentId }, channel, runId));
    expect(on("canary")).not.toEqual(on("stable"));
    expect(on("stable", "local.test.other")).not.toEqual(on("stable"));
  });

  test("is the newer one as often as its share says, and the next one its share of the rest", () => {
    const found = shares(deployments({ "3.0.0": deployed(10), "2.0.0": deployed(50), "1.0.0": deployed() }));
    expect(Math.abs((found["3.0.0"] ?? 0) - 0.1)).toBeLessThan(CLOSE);
    expect(Math.abs((found["2.0.0"] ?? 0) - 0.45)).toBeLessThan(CLOSE);
    expect(Math.abs((found["1.0.0"] ?? 0) - 0.45)).toBeLessThan(CLOSE);
    expect(found["none"]).toBeUndefined();
  });

  test("is never one with no share, and always one with all of it", () => {
    expect(shares(deployments({ "2.0.0": deployed(0), "1.0.0": deployed() }))).toEqual({ "1.0.0": expect.closeTo(1) });
    expect(shares(deployments({ "2.0.0": deployed(), "1.0.0": deployed() }))).toEqual({ "2.0.0": expect.closeTo(1) });
    expect(serves(deployments({ "2.0.0": deployed(0) }), "stable")).toBe(false);
    expect(serves(deployments({ "2.0.0": deployed(1) }), "stable")).toBe(true);
  });

  test("is none where the version that took the rest is withdrawn: nobody gets more than was allowed", () => {
    const found = shares(deployments({ "2.0.0": deployed(10), "1.0.0": deployed(undefined, "paused") }));
    expect(Math.abs((found["none"] ?? 0) - 0.9)).toBeLessThan(CLOSE);
    expect(found["1.0.0"]).toBeUndefined();
  });

  test("is none where the version with everything is withdrawn, whatever else is active", () => {
    const now = deployments({ "2.0.0": deployed(undefined, "paused"), "1.0.0": deployed() }, ["2.0.0"]);
    expect(shares(now)).toEqual({ none: expect.closeTo(1) });
    expect(serves(now, "stable")).toBe(false);
  });

  test("of latest is the highest active one by precedence, with its share", () => {
    const versions = {
      "1.9.0": deployed(),
      "1.10.0": deployed(),
      "2.0.0-rc.1": deployed(),
      "2.0.0": deployed(undefined, "paused"),
    };
    expect(drawVersion(deployments(versions, []), "latest", "run-1")).toBe("2.0.0-rc.1");
    const found = shares(deployments({ "2.0.0": deployed(25), "1.0.0": deployed() }, []), "latest");
    expect(Math.abs((found["2.0.0"] ?? 0) - 0.25)).toBeLessThan(CLOSE);
  });

  test("of a channel that nothing is on is none", () => {
    expect(drawVersion(deployments({ "1.0.0": deployed() }), "canary", "run-1")).toBeUndefined();
    expect(serves(deployments({ "1.0.0": deployed() }), "canary")).toBe(false);
    expect(drawVersion(deployments({}), "__proto__", "run-1")).toBeUndefined();
  });
});
