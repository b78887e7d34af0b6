import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { packArchive } from "../../../src/agents/packs/pack-archive.ts";
import { mcpProgram } from "../../../src/testing/mcp-program.ts";
import { agentManifest, packFiles, packManifest } from "../../../src/testing/packs.ts";
import { tempDir } from "../../../src/testing/temp-dir.ts";
import { workflow } from "../../../src/testing/workflow.ts";
import type { Attack } from "../attack.ts";
import { KEYS, type Target } from "../target.ts";

const folder = tempDir();
const started = join(folder, "started");
const seen = join(folder, "environment");
const AGENT = "local.acme.support.refunds";
const HELPER = "local.acme.support.helper";
const TOOL = "mcp:box/echo";

/** The operator's program leaves a trace of who started it and of what it saw. */
const binding = {
  type: "command",
  program: "/bin/sh",
  args: ["-c", `read -r task; echo "$task" >> ${started}; env > ${seen}; echo '{"refund":1}'`],
  tenants: ["acme"],
};
/** An agent for every tenant, which calls the tool that its allow-list names. */
const helper = {
  type: "scripted",
  script: { default: { toolCalls: [{ name: TOOL, arguments: { text: "orders" } }], echo: "tool" } },
  tenants: ["*"],
};
const box = mcpProgram();
const file = {
  bindings: { [AGENT]: binding, [HELPER]: helper },
  tools: { mcp: [{ ...box.entry, tenants: ["acme"] }] },
};
writeFileSync(join(folder, "agents.json"), JSON.stringify(file));

/** What a program of a server sees, its task's variables among them, and what a shell sets for itself. */
const ALLOWED = /^(PATH|HOME|LANG|TZ|TMPDIR|PWD|OLDPWD|SHLVL|_|ASSAY_(RUN_ID|TOOLS_URL|TOOLS_TOKEN|STARTED_\w+))$/;

const flags = ["--allow-unsigned", "--agents", join(folder, "agents.json")];
const manifest = packManifest({
  agents: [
    agentManifest({ agentId: AGENT }),
    agentManifest({ agentId: HELPER, toolAllowlist: [TOOL], handoff: undefined }),
  ],
});

async function runOf(target: Target, as: "owner" | "mallory", item: string, agentId = AGENT) {
  const installed = await fetch(`${target.url}/v1/host/assay/agents:install`, {
    method: "POST",
    headers: { "content-type": "application/x-tar", authorization: `Bearer ${KEYS[as].key}` },
    body: new Uint8Array(packArchive(packFiles(manifest))),
  });
  expect(installed.status, await installed.text()).toBeLessThan(300);
  const task = { type: "static", value: { item } } as const;
  const ask = { typeId: "assay.agent", agent: { agentId }, inputs: { task } };
  await target.register(workflow({ id: `ask-${as}`, nodes: { ask } }), as);
  return target.ends(await target.begin(`ask-${as}`, {}, as), as);
}

export const attacks: readonly Attack[] = [
  {
    title: "a pack of another tenant under the name of a bound agent does not start the operator's program",
    flags,
    async attempt(target) {
      // The folder is that of both databases: the attack on one of them may have come before.
      rmSync(started, { force: true });
      const foreign = await runOf(target, "mallory", "theirs");
      expect([foreign.status, foreign.error?.code]).toEqual(["failed", "agent_not_configured"]);
      expect(existsSync(started)).toBe(false);
      const own = await runOf(target, "owner", "ours");
      expect(own.status, JSON.stringify(own.error)).toBe("completed");
      const names = readFileSync(seen, "utf8").match(/^\w+(?==)/gm) ?? [];
      expect(names.filter((name) => !ALLOWED.test(name))).toEqual([]);
    },
  },
  {
    title: "a pack of another tenant that names a tool of the operator does not start its server",
    flags,
    async attempt(target) {
      const before = box.lines().length;
      const foreign = await runOf(target, "mallory", "theirs", HELPER);
      expect([foreign.status, foreign.error?.code]).toEqual(["failed", "agent_unreachable"]);
      expect(box.lines()).toHaveLength(before);
      const own = await runOf(target, "owner", "ours", HELPER);
      expect([own.status, JSON.stringify(own)]).toEqual(["completed", expect.stringContaining("you said orders")]);
    },
  },
];
