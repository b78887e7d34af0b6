import { isActive, isSettled, type NodeState, type Run } from "../../protocol/run.ts";
import {
  DEFAULT_MAX_LOOPBACK_ITERATIONS,
  type TriggerRule,
  type WorkflowEdge,
  type WorkflowNode,
} from "../../protocol/workflow.ts";
import { conditionHolds } from "./condition.ts";
import { DEFAULT_TRIGGER_RULE, reachableFrom } from "./graph.ts";
import type { Plan } from "./plan.ts";

export type Step =
  | { readonly type: "start"; readonly node: WorkflowNode; readonly attempt: number }
  | { readonly type: "skip"; readonly node: WorkflowNode; readonly reason: string }
  | { readonly type: "loop"; readonly edge: WorkflowEdge; readonly iteration: number; readonly nodeIds: string[] }
  | { readonly type: "loop-limit"; readonly nodeId: string; readonly iterations: number; readonly limit: number }
  | { readonly type: "complete"; readonly outputs: Record<string, unknown> };

/**
 * What may happen next, in the order of the graph; empty while everything left waits for nodes that are active.
 * Only one step is acted on before asking again when it is a loop or the end; starts and skips come together.
 */
export function nextSteps(plan: Plan, run: Run): Step[] {
  const loop = loopBack(plan, run);
  if (loop) return [loop];
  const steps: Step[] = [];
  for (const node of plan.graph.order) {
    const state = run.nodes[node.id];
    if (state?.status === "interrupted") steps.push({ type: "start", node, attempt: state.attempt + 1 });
    if (state !== undefined) continue;
    const step = firstStep(plan, run, node);
    if (step) steps.push(step);
  }
  if (steps.length > 0) return steps;
  const waiting = plan.graph.order.some((node) => !isSettled(run.nodes[node.id]));
  return waiting || Object.values(run.nodes).some(isActive)
    ? []
    : [{ type: "complete", outputs: runOutputs(plan, run) }];
}

function firstStep(plan: Plan, run: Run, node: WorkflowNode): Step | undefined {
  const edges = plan.graph.forwardInto.get(node.id) ?? [];
  if (edges.length === 0) {
    return node.disabled ? { type: "skip", node, reason: "disabled" } : { type: "start", node, attempt: 0 };
  }
  const outcome = triggerOutcome(run, edges);
  if (outcome === "wait") return undefined;
  if (outcome === "fire") {
    return node.disabled ? { type: "skip", node, reason: "disabled" } : { type: "start", node, attempt: 0 };
  }
  return { type: "skip", node, reason: outcome };
}

/** Each distinct rule among the incoming edges is judged over the edges that carry it; all must hold. */
function triggerOutcome(run: Run, edges: readonly WorkflowEdge[]): "wait" | "fire" | string {
  const groups = new Map<TriggerRule, WorkflowEdge[]>();
  for (const edge of edges) {
    const rule = edge.triggerRule ?? DEFAULT_TRIGGER_RULE;
    groups.set(rule, [...(groups.get(rule) ?? []), edge]);
  }
  let outcome: "fire" | string = "fire";
  for (const [rule, group] of groups) {
    const one = ruleOutcome(run, rule, group);
    if (one === "wait") return "wait";
    if (one !== "fire") outcome = one;
  }
  return outcome;
}

function ruleOutcome(run: Run, rule: TriggerRule, edges: readonly WorkflowEdge[]): "wait" | "fire" | string {
  const settled: { edge: WorkflowEdge; source: NodeState }[] = [];
  for (const edge of edges) {
    const source = run.nodes[edge.sourceNodeId];
    if (isSettled(source)) settled.push({ edge, source });
  }
  const fired = (statuses: readonly string[]) =>
    settled.some(({ edge, source }) => statuses.includes(source.status) && conditionHolds(run, edge, source));
  const none = (statuses: readonly string[]) => !settled.some(({ source }) => statuses.includes(source.status));

  // These two need not wait for slower siblings.
  if (rule === "any_success" && fired(["completed"])) return "fire";
  if (rule === "any_failed" && fired(["failed"])) return "fire";
  if (settled.length < edges.length) return "wait";

  const holds = {
    all_success: none(["failed", "cancelled", "skipped"]) && fired(["completed"]),
    none_failed: none(["failed", "cancelled"]) && fired(["completed"]),
    all_complete: fired(["completed", "failed", "cancelled"]),
    any_success: false,
    any_failed: false,
  }[rule];
  return holds ? "fire" : `trigger rule ${rule} not met`;
}

/** A failure is handled when some forward edge of the node leads to a rule that fires on it. */
export function failureIsHandled(plan: Plan, run: Run, nodeId: string): boolean {
  const state = run.nodes[nodeId];
  if (state === undefined) return false;
  return (plan.graph.forwardFrom.get(nodeId) ?? []).some((edge) => {
    const rule = edge.triggerRule ?? DEFAULT_TRIGGER_RULE;
    return (rule === "any_failed" || rule === "all_complete") && conditionHolds(run, edge, state);
  });
}

/** An edge that leads back fires once per visit of its source: the visit ends when the loop resets it. */
function loopBack(plan: Plan, run: Run): Step | undefined {
  for (const [sourceId, edges] of plan.graph.backFrom) {
    const source = run.nodes[sourceId];
    if (source?.status !== "completed") continue;
    for (const edge of edges) {
      if (!conditionHolds(run, edge, source)) continue;
      const iteration = (run.loops[edge.id] ?? 0) + 1;
      const limit = plan.definition.settings.maxLoopbackIterations ?? DEFAULT_MAX_LOOPBACK_ITERATIONS;
      if (iteration > limit) {
        return { type: "loop-limit", nodeId: edge.targetNodeId, iterations: iteration, limit };
      }
      const nodeIds = reachableFrom(plan.graph, edge.targetNodeId).filter((id) => run.nodes[id] !== undefined);
      // Nodes still at work on another branch of the loop end first.
      if (nodeIds.some((id) => isActive(run.nodes[id] as NodeState))) continue;
      return { type: "loop", edge, iteration, nodeIds };
    }
  }
  return undefined;
}

/** The outputs of the nodes nothing follows: of the one, or of each under its id. */
function runOutputs(plan: Plan, run: Run): Record<string, unknown> {
  const ends = plan.graph.order.filter(
    (node) => (plan.graph.forwardFrom.get(node.id) ?? []).length === 0 && run.nodes[node.id]?.status === "completed",
  );
  const primary = ends.filter((node) => node.outputRole === "primary");
  const shown = primary.length > 0 ? primary : ends;
  if (shown.length === 1) return { ...run.nodes[shown[0]?.id ?? ""]?.outputs };
  return Object.fromEntries(shown.map((node) => [node.id, { ...run.nodes[node.id]?.outputs }]));
}
