import { AppError } from "../../protocol/errors.ts";
import { DISPATCH, SUPERVISOR } from "../../protocol/runs/orchestrator.ts";
import type { WorkflowDefinition } from "../../protocol/workflows/workflow.ts";
import { isScripted, type Script } from "../nodes/decision-source.ts";
import { type Graph, reachableFrom } from "./decide/graph.ts";
import { agentNamedBy } from "./named-agent.ts";

/**
 * A run has one orchestrator for as long as it lasts, and what it decides is done by the dispatches after it: then nothing
 * is decided anew while a dispatch is at work.
 */
export function checkOrchestration({ nodes }: WorkflowDefinition, graph: Graph): void {
  const [supervisor, another] = nodes.filter(({ typeId }) => typeId === SUPERVISOR);
  if (another !== undefined) refuse(`has two supervisors, "${supervisor?.id}" and "${another.id}"; a run has one`);
  const after = new Set(supervisor === undefined ? [] : reachableFrom(graph, supervisor.id));
  for (const { id, typeId } of nodes) {
    if (typeId === DISPATCH && !after.has(id)) refuse(`has no supervisor before its dispatch "${id}"`);
  }
  if (supervisor === undefined) return;
  const { agentId } = agentNamedBy(supervisor) ?? {};
  if (agentId === undefined) return;
  if (agentId !== (supervisor.config["agentId"] ?? agentId)) {
    refuse(`names two agents at "${supervisor.id}", in agent and in config.agentId; one of them decides`);
  }
  if (isScripted(supervisor.config as Script)) return;
  // An agent that may name any workflow of its tenant could be talked into any of them.
  if (supervisor.config["workers"] === undefined) {
    refuse(`lets an agent decide at "${supervisor.id}" and does not say on which workers; list them in config.workers`);
  }
}

function refuse(problem: string): never {
  throw new AppError("validation_error", { problem: `the workflow ${problem}` });
}
