import { addTo } from "../../../formats/text/collections.ts";
import { validationError } from "../../../protocol/errors.ts";
import { perObject } from "../../../protocol/per-object.ts";
import { SUPERVISOR } from "../../../protocol/runs/orchestrator.ts";
import type {
  TriggerRule,
  WorkflowDefinition,
  WorkflowEdge,
  WorkflowNode,
} from "../../../protocol/workflows/workflow.ts";

/** The nodes and edges of a definition, indexed. Edges that lead back are separate from those that lead forward. */
export interface Graph {
  /** Topological over the forward edges; definition order among equals. */
  readonly order: readonly WorkflowNode[];
  /** The index of a node in that order. */
  readonly place: ReadonlyMap<string, number>;
  readonly node: ReadonlyMap<string, WorkflowNode>;
  readonly forwardInto: ReadonlyMap<string, readonly WorkflowEdge[]>;
  readonly forwardFrom: ReadonlyMap<string, readonly WorkflowEdge[]>;
  /** The forward edges into a node by the rule they carry. */
  readonly rulesInto: ReadonlyMap<string, readonly (readonly [TriggerRule, readonly WorkflowEdge[]])[]>;
  /** Edges that lead back to a node from which their source was reached. */
  readonly backFrom: ReadonlyMap<string, readonly WorkflowEdge[]>;
}

export const DEFAULT_TRIGGER_RULE: TriggerRule = "all_success";

/** Throws `validation_error` for duplicate ids and for edges of unknown nodes. */
export function buildGraph(definition: Pick<WorkflowDefinition, "nodes" | "edges">): Graph {
  const node = new Map<string, WorkflowNode>();
  for (const one of definition.nodes) {
    if (node.has(one.id)) refuse(`two nodes have the id "${one.id}"`);
    node.set(one.id, one);
  }
  const edgeIds = new Set<string>();
  for (const edge of definition.edges) {
    if (edgeIds.has(edge.id)) refuse(`two edges have the id "${edge.id}"`);
    edgeIds.add(edge.id);
    for (const end of [edge.sourceNodeId, edge.targetNodeId]) {
      if (!node.has(end)) refuse(`edge "${edge.id}" names node "${end}", which does not exist`);
    }
  }
  const back = backEdges(definition, node);
  const forward = definition.edges.filter((edge) => !back.has(edge));
  const order = topological(definition.nodes, forward);
  const forwardInto = groupBy(forward, (edge) => edge.targetNodeId);
  return {
    order,
    place: new Map(order.map((one, index) => [one.id, index])),
    node,
    forwardInto,
    rulesInto: new Map([...forwardInto].map(([id, edges]) => [id, [...groupBy(edges, ruleOf)]])),
    forwardFrom: groupBy(forward, (edge) => edge.sourceNodeId),
    backFrom: groupBy([...back], (edge) => edge.sourceNodeId),
  };
}

/** Depth first from the nodes without incoming edges, then from the first node that is not reached yet, without recursion. */
function backEdges(
  definition: Pick<WorkflowDefinition, "nodes" | "edges">,
  nodes: ReadonlyMap<string, WorkflowNode>,
): Set<WorkflowEdge> {
  const from = groupBy(definition.edges, (edge) => edge.sourceNodeId);
  const targets = new Set(definition.edges.map((edge) => edge.targetNodeId));
  const roots = definition.nodes.filter((node) => !targets.has(node.id));
  const back = new Set<WorkflowEdge>();
  const state = new Map<string, "open" | "closed">();
  for (const root of [...roots, ...nodes.values()]) {
    if (state.has(root.id)) continue;
    const path: { id: string; next: number }[] = [{ id: root.id, next: 0 }];
    state.set(root.id, "open");
    while (path.length > 0) {
      const here = path[path.length - 1] as { id: string; next: number };
      const edge = from.get(here.id)?.[here.next++];
      if (edge === undefined) {
        state.set(here.id, "closed");
        path.pop();
        continue;
      }
      const seen = state.get(edge.targetNodeId);
      if (seen === "open") back.add(edge);
      if (seen !== undefined) continue;
      state.set(edge.targetNodeId, "open");
      path.push({ id: edge.targetNodeId, next: 0 });
    }
  }
  return back;
}

function topological(nodes: readonly WorkflowNode[], forward: readonly WorkflowEdge[]): WorkflowNode[] {
  const waitsFor = new Map(nodes.map((node) => [node.id, 0]));
  for (const edge of forward) waitsFor.set(edge.targetNodeId, (waitsFor.get(edge.targetNodeId) ?? 0) + 1);
  const from = groupBy(forward, (edge) => edge.sourceNodeId);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const ready = nodes.filter((node) => waitsFor.get(node.id) === 0);
  const order: WorkflowNode[] = [];
  for (const node of ready) {
    order.push(node);
    for (const edge of from.get(node.id) ?? []) {
      const left = (waitsFor.get(edge.targetNodeId) ?? 0) - 1;
      waitsFor.set(edge.targetNodeId, left);
      const target = byId.get(edge.targetNodeId);
      if (left === 0 && target) ready.push(target);
    }
  }
  return order;
}

/** The nodes that forward edges reach from `start`: they run again when it does. */
export function reachableFrom(graph: Graph, start: string): string[] {
  return [...reached(graph, [start])];
}

/** The nodes that a loop may run again. */
export function inLoops(graph: Graph): ReadonlySet<string> {
  return reached(
    graph,
    [...graph.backFrom.values()].flatMap((edges) => edges.map(({ targetNodeId }) => targetNodeId)),
  );
}

/** The nodes of a loop that leads back to the supervisor; none where it decides once. */
export const supervisedLoop: (graph: Graph) => ReadonlySet<string> = perObject((graph: Graph) => {
  const supervisor = graph.order.find(({ typeId }) => typeId === SUPERVISOR);
  return supervisor === undefined ? new Set<string>() : loopOf(graph, supervisor.id);
});

function loopOf(graph: Graph, start: string): Set<string> {
  const before = new Set<string>();
  const edges = [...graph.forwardFrom.values(), ...graph.backFrom.values()].flat();
  const sources = groupBy(edges, ({ targetNodeId }) => targetNodeId);
  for (const { sourceNodeId } of sources.get(start) ?? []) before.add(sourceNodeId);
  for (const id of before) for (const { sourceNodeId } of sources.get(id) ?? []) before.add(sourceNodeId);
  if (!before.has(start)) return new Set();
  return new Set([...reached(graph, [start])].filter((id) => before.has(id)));
}

function reached({ forwardFrom }: Graph, starts: readonly string[]): Set<string> {
  const found = new Set(starts);
  for (const id of found) {
    for (const edge of forwardFrom.get(id) ?? []) found.add(edge.targetNodeId);
  }
  return found;
}

export function ruleOf({ triggerRule }: WorkflowEdge): TriggerRule {
  return triggerRule ?? DEFAULT_TRIGGER_RULE;
}

function groupBy<K>(edges: readonly WorkflowEdge[], key: (edge: WorkflowEdge) => K): Map<K, WorkflowEdge[]> {
  const groups = new Map<K, WorkflowEdge[]>();
  for (const edge of edges) addTo(groups, key(edge), edge);
  return groups;
}

function refuse(problem: string): never {
  throw validationError(problem);
}
