import { DISPATCH } from "../protocol/orchestrator.ts";
import type { WorkflowNode } from "../protocol/workflow.ts";
import type { Plan } from "./decide/plan.ts";
import type { Host } from "./host.ts";
import { hasEffects } from "./node-type.ts";
import { SUB_WORKFLOW } from "./nodes/sub-workflow.ts";

export interface PlanFactsHost extends Pick<Host, "nodeTypes"> {
  readonly plans: Pick<Host["plans"], "current">;
}

/**
 * Facts about the nodes of a workflow that include the workflows it dispatches, as they are registered now. Where the
 * answer cannot be known (a worker that a supervisor chooses, a workflow that is not registered) it is yes.
 */
export class PlanFacts {
  readonly #host: PlanFactsHost;
  readonly #tenant: string;
  readonly #effects = new Map<string, Promise<boolean>>();

  constructor(host: PlanFactsHost, tenant: string) {
    this.#host = host;
    this.#tenant = tenant;
  }

  /** Whether a node that can run after this one calls anything outside the host. */
  effectsAfter(plan: Plan, nodeId: string): Promise<boolean> {
    const key = JSON.stringify([plan.hash, nodeId]);
    const known = this.#effects.get(key);
    if (known !== undefined) return known;
    const found = this.#any(nodesAfter(plan, nodeId), (node) => hasEffects(this.#host.nodeTypes, node));
    this.#effects.set(key, found);
    return found;
  }

  /** Whether a person may be asked at one of these nodes. */
  asksPerson(nodes: readonly WorkflowNode[]): Promise<boolean> {
    return this.#any(nodes, ({ typeId, config }) => this.#host.nodeTypes.get(typeId)?.asksPerson?.(config) === true);
  }

  async #any(
    nodes: readonly WorkflowNode[],
    holds: (node: WorkflowNode) => boolean,
    seen = new Set<string>(),
  ): Promise<boolean> {
    for (const node of nodes) {
      if (node.disabled) continue;
      if (node.typeId === DISPATCH) return true;
      if (node.typeId !== SUB_WORKFLOW) {
        if (holds(node)) return true;
        continue;
      }
      const workflowId = String(node.config["workflowId"]);
      if (seen.has(workflowId)) continue;
      seen.add(workflowId);
      const child = await this.#host.plans.current(this.#tenant, workflowId);
      if (child === undefined || (await this.#any(child.graph.order, holds, seen))) return true;
    }
    return false;
  }
}

/** The nodes that edges reach from this one, forward or back; the node itself where a loop leads to it. */
function nodesAfter({ graph }: Plan, nodeId: string): WorkflowNode[] {
  const reached = new Set<string>();
  const from = [nodeId];
  for (const id of from) {
    const edges = [...(graph.forwardFrom.get(id) ?? []), ...(graph.backFrom.get(id) ?? [])];
    for (const { targetNodeId } of edges) {
      if (reached.has(targetNodeId)) continue;
      reached.add(targetNodeId);
      from.push(targetNodeId);
    }
  }
  return [...reached].flatMap((id) => graph.node.get(id) ?? []);
}
