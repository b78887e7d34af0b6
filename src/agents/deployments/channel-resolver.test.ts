import { describe, expect, test } from "vitest";
import { agentOf, agentsOf, echo } from "../../testing/eval-bench.ts";
import { workbench } from "../../testing/workbench.ts";
import { deployedChannels } from "./channel-resolver.ts";
import type { Deployments } from "./deployments.ts";
import { deploymentsWrite } from "./stored-deployments.ts";

const bench = workbench();
const AGENT = agentOf();
const PLACE = { tenant: "t1" };

async function deployed(agentHash: string): Promise<void> {
  const now: Deployments = {
    agentId: AGENT.agentId,
    versions: { [AGENT.version]: { state: "active", agentHash } },
    channels: { stable: [AGENT.version] },
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
