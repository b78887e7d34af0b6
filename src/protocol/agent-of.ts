import type { Run } from "./run.ts";

const LONGEST = 256;

/** The agent whose work a run is: what its starter wrote as `metadata.agentId`. */
export function agentOf({ metadata }: Pick<Run, "metadata">): string | undefined {
  const agentId = metadata?.["agentId"];
  return typeof agentId === "string" && agentId !== "" && agentId.length <= LONGEST ? agentId : undefined;
}
