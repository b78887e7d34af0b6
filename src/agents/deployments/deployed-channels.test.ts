import { describe, expect, test } from "vitest";
import { agentOf, agentsOf, echo } from "../../testing/eval-bench.ts";
import { workbench } from "../../testing/workbench.ts";
import { withConformanceAgent } from "../conformance-agent.ts";
import { CHANNEL_AGENT_ID, conformanceDeployments as fixedDeployments } from "../conformance-agents.ts";
import { deployedChannels } from "./deployed-channels.ts";
import type { Deployments } from "./deployments.ts";
import { listDeployments } from "./list-deployments.ts";
import { deploymentsWrite } from "./stored-deployments.ts";

const bench = workbench();
const AGENT = agentOf();
const PLACE = { tenant: "t1" };

async function deployed(agentHash: string, agentId = AGENT.agentId): Promise<void> {
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
    await deployed(AGENT.contentHash);
    const channels = deployedChannels(bench.store, agentsOf([AGENT], echo));
    expect(await channels.versionFor(asked())).toBe("1.0.0");
    expect(await channels.versionFor(asked("latest"))).toBe("1.0.0");
    expect(await channels.versionFor(asked("nightly"))).toBeUndefined();
    expect(await channels.versionFor(asked("stable", "t2"))).toBeUndefined();
    expect(await channels.isActive(PLACE, AGENT.agentId, "stable")).toBe(true);
    expect(await channels.isActive(PLACE, AGENT.agentId, "nightly")).toBe(false);
  });

  test("is nothing where something else is installed under the version that was promoted, or nothing is", async () => {
    await deployed("f".repeat(64));
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
  await deployed("f".repeat(64), CHANNEL_AGENT_ID);
  expect(await channels.versionFor(named)).toBeUndefined();
  expect(await shown()).toEqual([{ ...record, channels: ["nightly", "stable"] }]);
  expect(await channels.versionFor({ ...named, owner: { tenant: "t2" } })).toBe("1.0.0");
});
