import type { NodeState, Run } from "../../protocol/run.ts";
import type { WorkflowEdge, WorkflowNode } from "../../protocol/workflow.ts";
import { conditionHolds } from "./condition.ts";
import type { Plan } from "./plan.ts";

/** Paths of a condition that read the source of its edge. Any other path, and any expression, may read variables. */
const READS_SOURCE = /^(status|error|outputs?)(\.|$)/;

/**
 * Whether a node that starts over will run as long as no node before it fails, whatever the variables hold.
 *
 * @param sure the nodes that are certain to complete
 * @param isTaken whether an edge is taken whose condition reads nothing but its source
 */
export function isSureToRun(
  { graph }: Plan,
  { id, disabled }: WorkflowNode,
  sure: ReadonlySet<string>,
  isTaken: (edge: WorkflowEdge, source: WorkflowNode) => boolean,
): boolean {
  const isSure = (edge: WorkflowEdge): boolean => {
    const { sourceNodeId, condition } = edge;
    if (!sure.has(sourceNodeId)) return false;
    if (condition === undefined) return true;
    const source = graph.node.get(sourceNodeId);
    const readsSource = condition.expression === undefined && READS_SOURCE.test(condition.left ?? "");
    return readsSource && source !== undefined && isTaken(edge, source);
  };
  if (disabled) return false;
  return (graph.rulesInto.get(id) ?? []).every(([rule, edges]) => {
    if (rule === "any_failed") return false;
    return rule === "all_success" ? edges.every(isSure) : edges.some(isSure);
  });
}

const COSTS_LITTLE: ReadonlySet<string> = new Set(["truthy", "falsy", "equals", "notEquals"]);

/** Whether an edge is taken from a source whose result is kept. No where that takes work: a branch asks about many edges at once. */
export function isTakenFrom(run: Run, edge: WorkflowEdge, kept: NodeState): boolean {
  const { type = "truthy", right } = edge.condition ?? {};
  const isPlain = typeof right !== "object" || right === null;
  return COSTS_LITTLE.has(type) && isPlain && conditionHolds(run, edge, kept);
}
