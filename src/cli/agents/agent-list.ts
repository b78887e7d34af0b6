import { connect } from "../client/client.ts";
import { printable } from "../output/printable.ts";
import { formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";

export async function agentList({ json, config, io }: Call): Promise<undefined> {
  const { agents, total } = await connect(config).agents.list();
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
