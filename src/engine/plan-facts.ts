import { DISPATCH } from "../protocol/orchestrator.ts";
import type { WorkflowNode } from "../protocol/workflow.ts";
import type { Plan } from "./decide/plan.ts";
import { alwaysRun } from "./decide/ways-past.ts";
import type { Host } from "./host.ts";
import { hasEffects } from "./node-type.ts";
import { SUB_WORKFLOW } from "./nodes/sub-workflow.ts";

export interface PlanFactsHost extends Pick<Host, "nodeTypes"> {
  readonly plans: Pick<Host["plans"], "current">;
}

/** The nodes that must not run without a decision that they were to wait for. */
export interface Mattering {
  readonly effects: readonly string[];
  /** Where a run ends that was given other options: its outputs are looked at too. */
  readonly ends: readonly string[];
}

/**
 * Facts about the nodes of a workflow that include the workflows it dispatches, as they are registered now. Where the
 * answer cannot be known (a worker that a supervisor chooses, a workflow that is not registered) it is yes.
 */
export class PlanFacts {
  readonly #host: PlanFactsHost;
  readonly #tenant: string;
  readonly #beforeEffects = new Map<string, Promise<ReadonlySet<string>>>();

  constructor(host: PlanFactsHost, tenant: string) {
    this.#host = host;
    this.#tenant = tenant;
  }

  /** Whether a node that can run after this one calls anything outside the host. */
  async effectsAfter(plan: Plan, nodeId: string): Promise<boolean> {
    const known = this.#beforeEffects.get(plan.hash) ?? this.#nodesBeforeEffects(plan);
    this.#beforeEffects.set(plan.hash, known);
    return (await known).has(nodeId);
  }

  async #nodesBeforeEffects(plan: Plan): Promise<ReadonlySet<string>> {
    const from: string[] = [];
    for (const node of plan.graph.order) if (await this.hasEffects(node)) from.push(node.id);
    return nodesBefore(plan, from);
  }

  /** Whether a node calls anything outside the host, or a workflow that it dispatches does. */
  hasEffects(node: WorkflowNode): Promise<boolean> {
    return this.#any([node], (one) => hasEffects(this.#host.nodeTypes, one));
  }

  /** Whether a sub-workflow comes to each of its gates, however deep, whatever it is given. True for any other node. */
  async asksAtAllGates({ typeId, config }: WorkflowNode, seen = new Set<string>()): Promise<boolean> {
    if (typeId !== SUB_WORKFLOW) return true;
    const workflowId = String(config["workflowId"]);
    const plan = seen.has(workflowId) ? undefined : await this.#host.plans.current(this.#tenant, workflowId);
    if (plan === undefined) return false;
    const always = alwaysRun(plan);
    for (const node of plan.graph.order) {
      if (!(await this.asksPerson([node]))) continue;
      if (!always.has(node.id) || !(await this.asksAtAllGates(node, new Set([...seen, workflowId])))) return false;
    }
    return true;
  }

  /** Whether a person may be asked at one of these nodes. */
  asksPerson(nodes: readonly WorkflowNode[]): Promise<boolean> {
    return this.#any(nodes, ({ typeId, config }) => this.#host.nodeTypes.get(typeId)?.asksPerson?.(config) === true);
  }

  /** The nodes that wait for an event from outside, or dispatch a run that does. */
  async nodesOfEvents({ graph }: Plan): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    const waits = ({ typeId, config }: WorkflowNode) =>
      this.#host.nodeTypes.get(typeId)?.asksPerson?.(config) === false;
    for (const node of graph.order) if (await this.#any([node], waits)) found.add(node.id);
    return found;
  }

  /** @param changed whether the run was given other options */
  async whatMatters({ graph }: Plan, changed: boolean): Promise<Mattering> {
    const { order, forwardFrom } = graph;
    const effects: string[] = [];
    for (const node of order) if (await this.hasEffects(node)) effects.push(node.id);
    const isEnd = ({ id, disabled }: WorkflowNode) => !disabled && (forwardFrom.get(id) ?? []).length === 0;
    return { effects, ends: changed ? order.filter(isEnd).map(({ id }) => id) : [] };
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

/** The nodes from which edges lead to one of these, forward or back; one of these itself where a loop leads to it. */
function nodesBefore({ definition }: Plan, ids: readonly string[]): ReadonlySet<string> {
  const sources = new Map<string, string[]>();
  for (const { sourceNodeId, targetNodeId } of definition.edges) {
    const known = sources.get(targetNodeId);
    if (known === undefined) sources.set(targetNodeId, [sourceNodeId]);
    else known.push(sourceNodeId);
  }
  const found = new Set<string>();
  const from = [...ids];
  for (const id of from) {
    for (const source of sources.get(id) ?? []) {
      if (found.has(source)) continue;
      found.add(source);
      from.push(source);
    }
  }
  return found;
}

/** The nodes that edges reach from this one, forward or back; the node itself where a loop leads to it. */
export function nodesAfter({ graph }: Plan, nodeId: string): WorkflowNode[] {
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
