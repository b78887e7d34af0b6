import type { AgentEntry, AgentVersion } from "../../protocol/agents/api.ts";
import { connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import { formatFields, formatTable, printableFields, printList } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { namedAgent, orNearest } from "../program/nearest-name.ts";

export async function agentList(call: Call): Promise<undefined> {
  const { agents, total } = await connect(call.config).agents.list();
  const answer = { agents, total };
  printList(call, agents, answer, {
    empty: "No agents yet. Install a pack with: assay agent install PACK, or start the server with --packs DIR",
    headings: ["AGENT", "VERSION", "LABEL", "CLASS", "PACK", "LACKS"],
    row: ({ agentId, packVersion, label, modelClass, packName, degraded = [], memoryDegraded }) => {
      const lacks = [...degraded, ...(memoryDegraded ? ["memory"] : [])].join(", ") || "none";
      return [agentId, packVersion, label, modelClass, packName, lacks].map(printable);
    },
  });
}

const VERSION_HEADINGS = ["VERSION", "STATE", "CALLABLE", "OF", "SIGNED BY", "SUITE", "SHA256"];

export async function agentShow({ args: [agentId = ""], json, config, io }: Call): Promise<undefined> {
  const client = connect(config);
  const asked = Promise.all([client.agents.get(agentId), client.agents.versions(agentId)]);
  const [agent, { versions }] = await orNearest(asked, namedAgent(client, agentId));
  if (json) return void io.out(JSON.stringify({ agent, versions }));
  io.out(formatFields(fieldsOf(agent), io.paint));
  io.out("");
  io.out(formatTable(VERSION_HEADINGS, versions.map(rowOf), io.paint));
  return undefined;
}

function fieldsOf(agent: AgentEntry): Record<string, string | undefined> {
  const { degraded = [], degradedMemoryDimensions = [], memoryShape = {}, confidenceThreshold } = agent;
  const memory = Object.entries(memoryShape).flatMap(([name, wanted]) => (wanted ? [name] : []));
  const lacks = [...degraded, ...degradedMemoryDimensions.map((dimension) => `memory ${dimension}`)];
  return printableFields({
    agent: agent.agentId,
    label: agent.label,
    persona: agent.persona === agent.label ? undefined : agent.persona,
    description: agent.description,
    pack: `${agent.packName}@${agent.packVersion}`,
    "model class": agent.modelClass,
    tools: agent.toolAllowlist.join(", ") || "none",
    schemas: agent.hasHandoffSchemas ? "yes" : "none",
    memory: memory.join(", ") || "none",
    "asks below": confidenceThreshold === undefined ? undefined : `confidence ${confidenceThreshold}`,
    lacks: lacks.length === 0 ? undefined : lacks.join(", "),
  });
}

function rowOf({ version, active, callable, hostWide, workspace, signedBy, evalSuiteRef, contentHash }: AgentVersion) {
  const place = hostWide ? "host" : workspace === undefined ? "tenant" : `workspace ${workspace}`;
  return [
    version,
    active ? "active" : "installed",
    callable ? "yes" : "no",
    place,
    signedBy ?? "none",
    evalSuiteRef ?? "none",
    contentHash.slice(0, 12),
  ].map(printable);
}
