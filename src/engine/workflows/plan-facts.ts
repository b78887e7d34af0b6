import { addTo } from "../../formats/text/collections.ts";
import { DISPATCH } from "../../protocol/runs/orchestrator.ts";
import type { Run } from "../../protocol/runs/run.ts";
import type { WorkflowNode } from "../../protocol/workflows/workflow.ts";
import type { Host } from "../host.ts";
import { SUB_WORKFLOW } from "../nodes/sub-workflow.ts";
import { hasEffects } from "../worker/node-type.ts";
import { pauses } from "../worker/pauses.ts";
import type { Plan } from "./decide/plan.ts";

export interface PlanFactsHost extends Pick<Host, "nodeTypes"> {
  readonly plans: Pick<Host["plans"], "current">;
}

/** Facts about a node, including the workflows that it dispatches. */
interface Facts {
  /** Whether it calls anything outside the host. */
  readonly acts: boolean;
  /** Whether it may ask a person, or wait for an external event. */
  readonly asks: boolean;
}

const ALL: Facts = { acts: true, asks: true };

interface Workflow extends Facts {
  /** The workflows that its nodes dispatch. */
  readonly below: readonly string[];
}

/**
 * Facts about the nodes of a workflow, including the workflows that it dispatches, as they are registered now. Unknown facts (of a worker that a
 * supervisor chooses, of a workflow that is not registered) are taken to be true.
 */
export class PlanFacts {
  readonly #host: PlanFactsHost;
  readonly #tenant: string;
  readonly #beforeActs = new Map<string, Promise<ReadonlySet<string>>>();
  /** Each workflow is read once. */
  readonly #workflows = new Map<string, Promise<Workflow>>();
  readonly #families = new Map<string, Promise<Facts>>();
  readonly #pause = pauses();

  constructor(host: PlanFactsHost, tenant: string) {
    this.#host = host;
    this.#tenant = tenant;
  }

  /** The nodes that call anything outside the host, or dispatch a workflow that does. */
  async acting({ graph }: Plan): Promise<string[]> {
    const found: string[] = [];
    for (const node of graph.order) if (await this.acts(node)) found.push(node.id);
    return found;
  }

  /** Whether edges lead from this node to one that calls anything outside the host. */
  async actsAfter(plan: Plan, nodeId: string): Promise<boolean> {
    const known = this.#beforeActs.get(plan.hash) ?? this.acting(plan).then((ids) => nodesBefore(plan, ids));
    this.#beforeActs.set(plan.hash, known);
    return (await known).has(nodeId);
  }

  /** Whether the node calls anything outside the host, or a workflow that it dispatches does. */
  async acts(node: WorkflowNode): Promise<boolean> {
    return (await this.#factsOf(node)).acts;
  }

  /** Whether one of these nodes, or of the workflows that they dispatch, may ask a person or wait for an event. */
  async asks(nodes: readonly WorkflowNode[]): Promise<boolean> {
    for (const node of nodes) if ((await this.#factsOf(node)).asks) return true;
    return false;
  }

  /** Whether the workflow of a run was registered anew since and now asks a person or waits for an event, or is no longer registered. */
  async asksAnew({ workflowId, workflowHash }: Pick<Run, "workflowId" | "workflowHash">): Promise<boolean> {
    const current = await this.#host.plans.current(this.#tenant, workflowId);
    if (current === undefined) return true;
    return current.hash !== workflowHash && this.asks(current.graph.order);
  }

  async #factsOf(node: WorkflowNode): Promise<Facts> {
    const { acts, asks, below } = workflowOf([node], this.#host.nodeTypes);
    if (below.length === 0) return { acts, asks };
    const workflowId = below[0] as string;
    const known = this.#families.get(workflowId) ?? this.#familyOf(workflowId);
    this.#families.set(workflowId, known);
    return known;
  }

  /** The facts of a workflow and of all workflows below it. */
  async #familyOf(workflowId: string): Promise<Facts> {
    const seen = new Set([workflowId]);
    let [acts, asks] = [false, false];
    for (const id of seen) {
      const workflow = await this.#workflow(id);
      acts ||= workflow.acts;
      asks ||= workflow.asks;
      if (acts && asks) break;
      for (const one of workflow.below) seen.add(one);
      await this.#pause();
    }
    return { acts, asks };
  }

  #workflow(id: string): Promise<Workflow> {
    const known = this.#workflows.get(id) ?? this.#read(id);
    this.#workflows.set(id, known);
    return known;
  }

  async #read(id: string): Promise<Workflow> {
    const plan = await this.#host.plans.current(this.#tenant, id);
    return plan === undefined ? { ...ALL, below: [] } : workflowOf(plan.graph.order, this.#host.nodeTypes);
  }
}

function workflowOf(nodes: readonly WorkflowNode[], types: PlanFactsHost["nodeTypes"]): Workflow {
  const below = new Set<string>();
  let [acts, asks] = [false, false];
  for (const node of nodes) {
    const { typeId, config, disabled } = node;
    if (disabled) continue;
    if (typeId === DISPATCH) return { ...ALL, below: [] };
    if (typeId === SUB_WORKFLOW) {
      below.add(String(config["workflowId"]));
      continue;
    }
    acts ||= hasEffects(types, node);
    asks ||= types.get(typeId)?.asksPerson?.(config) !== undefined;
  }
  return { acts, asks, below: [...below] };
}

/** The nodes from which edges, forward or back, lead to one of these. */
function nodesBefore({ definition }: Plan, ids: readonly string[]): ReadonlySet<string> {
  const sources = new Map<string, string[]>();
  for (const { sourceNodeId, targetNodeId } of definition.edges) addTo(sources, targetNodeId, sourceNodeId);
  const found = new Set(ids.flatMap((id) => sources.get(id) ?? []));
  for (const id of found) for (const source of sources.get(id) ?? []) found.add(source);
  return found;
}
