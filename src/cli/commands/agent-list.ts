import type { AgentInventory } from "../../protocol/agent-api.ts";
import { connect } from "../client.ts";
import type { Call } from "../command.ts";
import { printable } from "../printable.ts";
import { formatTable } from "../table.ts";

export async function agentList({ json, config, io }: Call): Promise<undefined> {
  const { agents, total } = await connect(config).json<AgentInventory>("/v1/agents");
  if (json) io.out(JSON.stringify({ agents, total }));
  else if (agents.length === 0) {
    io.err("No agents yet. Install a pack with: assay agent install PACK, or start the server with --packs DIR");
  } else {
    const rows = agents.map(({ agentId, packVersion, label, modelClass, packName, degraded = [], memoryDegraded }) => [
      printable(agentId),
      printable(packVersion),
      printable(label),
      modelClass,
      printable(packName),
      printable([...degraded, ...(memoryDegraded ? ["memory"] : [])].join(", ") || "none"),
    ]);
    io.out(formatTable(["AGENT", "VERSION", "LABEL", "CLASS", "PACK", "LACKS"], rows, io.paint));
  }
}
