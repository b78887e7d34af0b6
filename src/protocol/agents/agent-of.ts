import type { CalledAgent } from "../evolve/agent.ts";
import type { Run } from "../runs/run.ts";

const LONGEST = 256;

/** Agents of one run that are counted. The bound keeps the indexed column small; a run that calls more counts for the first. */
const MOST = 8;

/** The parts of a run that name its agents. */
export type AgentFacts = Pick<Run, "metadata" | "agent">;

/**
 * The agents whose work a run is, each once: the one that its starter named as `metadata.agentId`, then those that the host
 * called itself, in the order of their first call.
 */
export function agentsOf(run: AgentFacts): readonly string[] {
  return distinct([namedAgent(run), ...callsOf(run).map(({ agentId }) => agentId)]);
}

/**
 * The agents that a judgment of one node is about: those that the node called. A node that called none is part of the work
 * of the run's agents.
 */
export function agentsOfNode(run: AgentFacts, nodeId: string | undefined): readonly string[] {
  const called = callsOf(run).filter((call) => nodeId !== undefined && call.nodeId === nodeId);
  return called.length === 0 ? agentsOf(run) : distinct(called.map(({ agentId }) => agentId));
}

/** The agents of a record: the first, and the others where there are several. Most records have one. */
export interface AgentFields {
  readonly agentId?: string;
  readonly otherAgents?: readonly string[];
}

export function agentFields([agentId, ...otherAgents]: readonly string[]): AgentFields {
  if (agentId === undefined) return {};
  return { agentId, ...(otherAgents.length === 0 ? {} : { otherAgents }) };
}

export function agentList({ agentId, otherAgents = [] }: AgentFields): readonly string[] {
  return agentId === undefined ? [] : [agentId, ...otherAgents];
}

export function hasAgent({ agentId, otherAgents = [] }: AgentFields, asked: string): boolean {
  return agentId === asked || otherAgents.includes(asked);
}

/** The agent that its starter named. */
export function namedAgent({ metadata }: Pick<Run, "metadata">): string | undefined {
  const agentId = metadata?.["agentId"];
  return typeof agentId === "string" ? agentId : undefined;
}

/** Runs of earlier versions recorded only the latest call, without its node. */
function callsOf({ agent }: AgentFacts): readonly CalledAgent[] {
  if (agent === undefined) return [];
  return agent.called ?? [{ agentId: agent.agentId, nodeId: "" }];
}

function distinct(agentIds: readonly (string | undefined)[]): readonly string[] {
  const usable = agentIds.filter((id): id is string => id !== undefined && id !== "" && id.length <= LONGEST);
  return [...new Set(usable)].slice(0, MOST);
}
