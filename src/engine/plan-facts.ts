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

/** What a workflow says itself, without those that it dispatches. */
interface OwnFacts {
  readonly effects: boolean;
  readonly asks: boolean;
  readonly dispatches: readonly string[];
}

type Fact = "effects" | "asks";

/**
 * Facts about the nodes of a workflow that include the workflows it dispatches, as they are registered now. Where the
 * answer cannot be known (a worker that a supervisor chooses, a workflow that is not registered) it is yes.
 *
 * Each workflow is looked at once: those that dispatch the next one many times have more ways through them than could ever be followed.
 */
export class PlanFacts {
  readonly #host: PlanFactsHost;
  readonly #tenant: string;
  readonly #beforeEffects = new Map<string, Promise<ReadonlySet<string>>>();
  readonly #own = new Map<string, Promise<OwnFacts>>();
  /** Known for every workflow that was found on the way to an answer. */
  readonly #known: Readonly<Record<Fact, Map<string, boolean>>> = { effects: new Map(), asks: new Map() };
  /** False while it is looked at: a workflow that comes back to itself has no last gate. */
  readonly #asksAtAll = new Map<string, boolean>();

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
    return this.#any([node], "effects");
  }

  /** Whether a sub-workflow comes to each of its gates, however deep, whatever it is given. True for any other node. */
  async asksAtAllGates({ typeId, config }: WorkflowNode): Promise<boolean> {
    if (typeId !== SUB_WORKFLOW) return true;
    const workflowId = String(config["workflowId"]);
    const known = this.#asksAtAll.get(workflowId);
    if (known !== undefined) return known;
    this.#asksAtAll.set(workflowId, false);
    const plan = await this.#host.plans.current(this.#tenant, workflowId);
    const asks = plan !== undefined && (await this.#comesToAllGates(plan));
    this.#asksAtAll.set(workflowId, asks);
    return asks;
  }

  async #comesToAllGates(plan: Plan): Promise<boolean> {
    const always = alwaysRun(plan);
    for (const node of plan.graph.order) {
      if (!(await this.asksPerson([node]))) continue;
      if (!always.has(node.id) || !(await this.asksAtAllGates(node))) return false;
    }
    return true;
  }

  /** Whether a person may be asked at one of these nodes. */
  asksPerson(nodes: readonly WorkflowNode[]): Promise<boolean> {
    return this.#any(nodes, "asks");
  }

  async #any(nodes: readonly WorkflowNode[], fact: Fact): Promise<boolean> {
    const own = this.#ownFacts(nodes);
    if (own[fact]) return true;
    for (const workflowId of own.dispatches) {
      if (!this.#known[fact].has(workflowId)) await this.#learn(workflowId, fact);
      if (this.#known[fact].get(workflowId) !== false) return true;
    }
    return false;
  }

  #ownFacts(nodes: readonly WorkflowNode[]): OwnFacts {
    const { nodeTypes } = this.#host;
    const enabled = nodes.filter(({ disabled }) => !disabled);
    const chooses = enabled.some(({ typeId }) => typeId === DISPATCH);
    const rest = enabled.filter(({ typeId }) => typeId !== SUB_WORKFLOW);
    const dispatched = enabled.filter(({ typeId }) => typeId === SUB_WORKFLOW);
    return {
      effects: chooses || rest.some((node) => hasEffects(nodeTypes, node)),
      asks: chooses || rest.some(({ typeId, config }) => nodeTypes.get(typeId)?.asksPerson?.(config) === true),
      dispatches: [...new Set(dispatched.map(({ config }) => String(config["workflowId"])))],
    };
  }

  #ownFactsOf(workflowId: string): Promise<OwnFacts> {
    const known = this.#own.get(workflowId) ?? this.#readOwnFacts(workflowId);
    this.#own.set(workflowId, known);
    return known;
  }

  async #readOwnFacts(workflowId: string): Promise<OwnFacts> {
    const plan = await this.#host.plans.current(this.#tenant, workflowId);
    return plan === undefined ? { effects: true, asks: true, dispatches: [] } : this.#ownFacts(plan.graph.order);
  }

  /** Finds the fact for a workflow and for all that were looked at for it: yes for those that lead to a yes, and no for the others. */
  async #learn(workflowId: string, fact: Fact): Promise<void> {
    const known = this.#known[fact];
    const dispatchedBy = new Map<string, string[]>();
    const found = new Set([workflowId]);
    const yes = new Set<string>();
    for (const id of found) {
      const own = known.has(id) ? undefined : await this.#ownFactsOf(id);
      if (own === undefined ? known.get(id) : own[fact]) yes.add(id);
      if (own === undefined || own[fact]) continue;
      for (const next of own.dispatches) {
        found.add(next);
        const above = dispatchedBy.get(next);
        if (above === undefined) dispatchedBy.set(next, [id]);
        else above.push(id);
      }
    }
    for (const id of yes) for (const above of dispatchedBy.get(id) ?? []) yes.add(above);
    for (const id of found) known.set(id, yes.has(id));
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
