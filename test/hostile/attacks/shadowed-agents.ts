import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { packArchive } from "../../../src/agents/packs/pack-archive.ts";
import { agentManifest, packFiles, packManifest, writePack } from "../../../src/testing/packs.ts";
import { tempDir } from "../../../src/testing/temp-dir.ts";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";
import { KEYS, type Target } from "../target.ts";

const folder = tempDir();
const OF_TENANT = "local.acme.support.refunds";
const OF_HOST = "local.acme.hosted.refunds";
const DEPLOYED = "local.acme.deployed.refunds";

const binding = { type: "command", program: "/bin/sh", args: ["-c", `echo '{"refund":1}'`], tenants: ["acme"] };
const bindings = Object.fromEntries([OF_TENANT, OF_HOST, DEPLOYED].map((agentId) => [agentId, binding]));
writeFileSync(join(folder, "agents.json"), JSON.stringify({ bindings }));

/** The agent under a name and version. What the program answers is an answer of the genuine one, and of no other. */
function packOf(agentId: string, version: string, wanted = "refund") {
  const suite = { evalSuiteRef: undefined };
  const name = agentId.slice(0, agentId.lastIndexOf("."));
  return packFiles(packManifest({ name, version, agents: [agentManifest({ agentId, ...suite })] }), {
    "schemas/answer.json": JSON.stringify({ type: "object", required: [wanted] }),
    "evals/refunds.json": undefined,
  });
}

const packs = join(folder, "packs");
for (const agentId of [OF_HOST, DEPLOYED]) {
  mkdirSync(join(packs, agentId), { recursive: true });
  writePack(join(packs, agentId), packOf(agentId, "1.0.0"));
}

const flags = ["--allow-unsigned", "--agents", join(folder, "agents.json"), "--packs", packs];

async function install(target: Target, key: string, files: ReturnType<typeof packOf>): Promise<void> {
  const installed = await fetch(`${target.url}/v1/host/assay/agents:install`, {
    method: "POST",
    headers: { "content-type": "application/x-tar", authorization: `Bearer ${key}` },
    body: new Uint8Array(packArchive(files)),
  });
  expect(installed.status, await installed.text()).toBeLessThan(300);
}

/** A workflow of the tenant that asks the agent, and how its runs end. */
async function asking(target: Target, agent: { agentId: string; version?: string; channel?: string }) {
  const task = { type: "static", value: { item: "ours" } } as const;
  const id = `ask-${Object.values(agent).join("-")}`.replaceAll(".", "-");
  await target.register(workflow({ id, nodes: { ask: { typeId: "assay.agent", agent, inputs: { task } } } }));
  return async () => {
    const ended = await target.ends(await target.begin(id));
    return ended.status === "completed" ? "completed" : ended.error;
  };
}

async function keyOfWest(target: Target): Promise<string> {
  const body = { principal: "wendy", roles: ["owner"], workspace: "west", kind: "user" };
  const made = await target.ask("POST", "/v1/host/assay/keys", { body });
  expect(made.status, made.text).toBe(201);
  return made.json.key;
}

export const attacks: readonly Attack[] = [
  {
    title: "no agent that a workspace installs takes the place of one of the tenant or the host in runs of the tenant",
    flags,
    async attempt(target) {
      const west = await keyOfWest(target);
      await install(target, KEYS.owner.key, packOf(OF_TENANT, "1.0.0"));
      await install(target, west, packOf(OF_TENANT, "9.9.9", "stolen"));
      await install(target, west, packOf(OF_HOST, "1.0.0", "stolen"));
      for (const agent of [{ agentId: OF_TENANT }, { agentId: OF_HOST }, { agentId: OF_HOST, version: "1.0.0" }]) {
        expect(await (await asking(target, agent))()).toBe("completed");
      }
    },
  },
  {
    title: "no agent runs as the version that was promoted, but what was promoted",
    flags,
    async attempt(target) {
      for (const toState of ["test", "staged", "active"]) {
        const body = { version: "1.0.0", transition: "promote", toState };
        const done = await target.ask("POST", `/v1/agents/${DEPLOYED}/deployments`, { body });
        expect(done.status, done.text).toBe(200);
      }
      const plain = await asking(target, { agentId: DEPLOYED });
      const onChannel = await asking(target, { agentId: DEPLOYED, channel: "stable" });
      expect([await plain(), await onChannel()]).toEqual(["completed", "completed"]);
      await install(target, KEYS.owner.key, packOf(DEPLOYED, "1.0.0", "stolen"));
      await expect(plain()).rejects.toThrow("with other content than was promoted");
      expect(await onChannel()).toMatchObject({ code: "no_active_deployment" });
    },
  },
  {
    title: "no version that nobody let pass runs where the one that was promoted has a share or is paused",
    flags,
    async attempt(target) {
      const step = (version: string, more: object) =>
        target.ask("POST", `/v1/agents/${DEPLOYED}/deployments`, { body: { version, transition: "promote", ...more } });
      const done = async (version: string, more: object) => expect((await step(version, more)).status).toBe(200);
      for (const toState of ["test", "staged", "active"]) await done("1.0.0", { toState });
      const plain = await asking(target, { agentId: DEPLOYED });
      await install(target, KEYS.owner.key, packOf(DEPLOYED, "2.0.0", "stolen"));
      expect(await plain()).toBe("completed");
      for (const toState of ["test", "staged"]) await done("2.0.0", { toState });
      await done("2.0.0", { toState: "active", canaryPercent: 1 });
      expect(await plain()).toBe("completed");
      await done("2.0.0", { transition: "rollback" });
      await done("1.0.0", { transition: "pause" });
      await expect(plain()).rejects.toThrow("has no active version");
    },
  },
];
