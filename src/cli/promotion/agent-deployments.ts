import type { AgentDeployment } from "../../protocol/promotion/api.ts";
import { connect } from "../client/client.ts";
import type { Paint } from "../output/io.ts";
import { printable } from "../output/printable.ts";
import { formatFields, formatTable } from "../output/table.ts";
import type { Call } from "../program/command.ts";
import { namedAgent, orNearest } from "../program/nearest-name.ts";

export async function agentDeployments({ args: [agentId = ""], json, config, io }: Call): Promise<undefined> {
  const client = connect(config);
  const deployments = await orNearest(client.promotion.deployments(agentId), namedAgent(client, agentId));
  if (json) return void io.out(JSON.stringify(deployments));
  const rows = deployments.map((one) => [
    printable(one.version),
    one.state,
    printable(one.channels?.join(", ") ?? "-"),
    shareOf(one) ?? "-",
    printable(one.evalRunId ?? "-"),
    printable(one.approvalGateId ?? "-"),
  ]);
  io.out(formatTable(["VERSION", "STATE", "CHANNELS", "SHARE", "EVALUATION", "GATE"], rows, io.paint));
  return undefined;
}

export function deploymentFields(record: AgentDeployment, paint: Paint): string {
  return formatFields(
    {
      agent: printable(record.agentId),
      version: printable(record.version),
      state: record.state,
      channels: record.channels === undefined ? undefined : printable(record.channels.join(", ")),
      share: shareOf(record),
      "gave way to": record.rollbackPointer === undefined ? undefined : printable(record.rollbackPointer),
      evaluation: record.evalRunId === undefined ? undefined : printable(record.evalRunId),
      gate: record.approvalGateId === undefined ? undefined : printable(record.approvalGateId),
    },
    paint,
  );
}

function shareOf({ canaryPercent, channels }: AgentDeployment): string | undefined {
  return channels === undefined ? undefined : `${canaryPercent ?? 100} %`;
}
