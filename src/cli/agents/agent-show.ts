import type { AgentEntry, AgentVersion } from "../../protocol/agents/api.ts";
import { connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import { formatFields, formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { namedAgent, orNearest } from "../program/nearest-name.ts";

export async function agentShow({ args: [agentId = ""], json, config, io }: Call): Promise<undefined> {
  const client = connect(config);
  const asked = Promise.all([client.agents.get(agentId), client.agents.versions(agentId)]);
  const [agent, { versions }] = await orNearest(asked, namedAgent(client, agentId));
  if (json) return void io.out(JSON.stringify({ agent, versions }));
  io.out(formatFields(fieldsOf(agent), io.paint));
  io.out("");
  io.out(
    formatTable(["VERSION", "STATE", "CALLABLE", "OF", "SIGNED BY", "SUITE", "SHA256"], versions.map(rowOf), io.paint),
  );
  return undefined;
}

function fieldsOf(agent: AgentEntry): Record<string, string | undefined> {
  const { degraded = [], degradedMemoryDimensions = [], memoryShape = {}, confidenceThreshold } = agent;
  const memory = Object.entries(memoryShape).flatMap(([name, wanted]) => (wanted ? [name] : []));
  const lacks = [...degraded, ...degradedMemoryDimensions.map((dimension) => `memory ${dimension}`)];
  return {
    agent: printable(agent.agentId),
    label: printable(agent.label),
    persona: agent.persona === agent.label ? undefined : printable(agent.persona),
    description: agent.description === undefined ? undefined : printable(agent.description),
    pack: printable(`${agent.packName}@${agent.packVersion}`),
    "model class": agent.modelClass,
    tools: printable(agent.toolAllowlist.join(", ") || "none"),
    schemas: agent.hasHandoffSchemas ? "yes" : "none",
    memory: memory.join(", ") || "none",
    "asks below": confidenceThreshold === undefined ? undefined : `confidence ${confidenceThreshold}`,
    lacks: lacks.length === 0 ? undefined : printable(lacks.join(", ")),
  };
}

function rowOf(version: AgentVersion): string[] {
  const place = version.hostWide
    ? "host"
    : version.workspace === undefined
      ? "tenant"
      : `workspace ${version.workspace}`;
  return [
    printable(version.version),
    version.active ? "active" : "installed",
    version.callable ? "yes" : "no",
    printable(place),
    printable(version.signedBy ?? "nobody"),
    printable(version.evalSuiteRef ?? "none"),
    version.contentHash.slice(0, 12),
  ];
}
