import type { RunError } from "../../../protocol/events.ts";
import { own } from "../../../protocol/own.ts";
import { DISPATCH, SUPERVISOR } from "../../../protocol/runs/orchestrator.ts";
import { isActive, isEntered, isSettled, type NodeState, nodeOf, type Run } from "../../../protocol/runs/run.ts";
import { maskFields } from "../../../protocol/runs/snapshot.ts";
import {
  DEFAULT_MAX_LOOPBACK_ITERATIONS,
  type TriggerRule,
  type WorkflowEdge,
  type WorkflowNode,
} from "../../../protocol/workflows/workflow.ts";
import { conditionHolds, conditionProblem } from "../../workflows/decide/condition.ts";
import { DEFAULT_TRIGGER_RULE, type Graph, reachableFrom } from "../../workflows/decide/graph.ts";
import type { Plan } from "../../workflows/decide/plan.ts";
import {
  handlesFailure,
  isRefinedEnd,
  leadsOn,
  leavesUndecided,
  returnsUndecided,
  statusAlong,
  undecidedDispatch,
  verdictError,
} from "./edge-outcomes.ts";

export type Step =
  | { readonly type: "start"; readonly node: WorkflowNode; readonly attempt: number; readonly entered?: true }
  | { readonly type: "skip"; readonly node: WorkflowNode; readonly reason: string }
  | { readonly type: "loop"; readonly edge: WorkflowEdge; readonly iteration: number; readonly nodeIds: string[] }
  | { readonly type: "loop-limit"; readonly nodeId: string; readonly iterations: number; readonly limit: number }
  | { readonly type: "fail"; readonly nodeId: string; readonly error: RunError }
  | { readonly type: "complete"; readonly outputs: RunOutputs };

/** The outputs of a run. `shown` are the masked ones, present where ports are sensitive. */
export interface RunOutputs {
  readonly all: Record<string, unknown>;
  readonly shown?: Record<string, unknown>;
}

/**
 * The next steps, in the order of the graph; none while the remaining nodes wait for active ones. A loop or the end of the run comes alone;
 * starts and skips come together. `among` are the nodes that could be next: all, or those of `frontier`.
 */
export function nextSteps(plan: Plan, run: Run, among: readonly WorkflowNode[] = plan.graph.order): Step[] {
  const entered = enteredSteps(run, among);
  if (entered.length > 0) return entered;
  const { loop, held } = loopBack(plan, run);
  if (loop) return [loop];
  const steps: Step[] = [];
  for (const node of among) {
    if (held.has(node.id)) continue;
    const step = stepOf(plan, run, node);
    if (step?.type === "fail") return [step];
    if (step) steps.push(step);
  }
  if (steps.length > 0) return steps;
  const waiting = plan.graph.order.some((node) => !isSettled(nodeOf(run, node.id)));
  return waiting || Object.values(run.nodes).some(isActive) ? [] : [ending(plan, run)];
}

/** The nodes that a branch begins with: they were decided about in its source. */
function enteredSteps(run: Run, among: readonly WorkflowNode[]): Step[] {
  if (run.forkedFrom?.mode !== "branch") return [];
  return among
    .filter(({ id }) => isEntered(nodeOf(run, id)))
    .map((node) => ({ type: "start", node, attempt: 0, entered: true }));
}

/**
 * The nodes that could be next after `steps`: those that follow, and those that waited for more. Examining every node again would cost the
 * square of their number.
 */
export function frontier(
  plan: Plan,
  run: Run,
  among: readonly WorkflowNode[],
  steps: readonly Step[],
): readonly WorkflowNode[] {
  const { node, order, place, forwardFrom, forwardInto } = plan.graph;
  const ids = new Set<string>();
  for (const { id } of among) {
    const begun = nodeOf(run, id) !== undefined;
    if (!begun && forwardInto.get(id)?.some((edge) => isSettled(nodeOf(run, edge.sourceNodeId)))) ids.add(id);
  }
  for (const step of steps) {
    if ((step.type !== "start" && step.type !== "skip") || ("entered" in step && step.entered)) return order;
    for (const edge of forwardFrom.get(step.node.id) ?? []) ids.add(edge.targetNodeId);
  }
  const found = [...ids].sort((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0));
  return found.flatMap((id) => node.get(id) ?? []);
}

/** The end of the run. A failure whose handler was skipped or is disabled fails the run. */
function ending(plan: Plan, run: Run): Step {
  for (const { id } of plan.graph.order) {
    const state = nodeOf(run, id);
    if (state?.status === "failed" && state.error && !handlerRan(plan, run, id)) {
      return { type: "fail", nodeId: id, error: state.error };
    }
    if (state?.verdict !== undefined && !followed(plan, run, id, state)) {
      return { type: "fail", nodeId: id, error: verdictError(id, state.verdict, state.outputs) };
    }
  }
  const undecided = undecidedDispatch(plan.graph, run);
  if (undecided !== undefined && !followedAfter(plan, run, undecided.nodeId)) return { type: "fail", ...undecided };
  return { type: "complete", outputs: runOutputs(plan, run) };
}

/** Whether a node ran after a dispatch that its supervisor did not decide about. */
function followedAfter({ graph }: Plan, run: Run, nodeId: string): boolean {
  return (graph.forwardFrom.get(nodeId) ?? []).some(
    (edge) => leavesUndecided(graph, run, edge) && nodeOf(run, edge.targetNodeId)?.status !== "skipped",
  );
}

function handlerRan(plan: Plan, run: Run, nodeId: string): boolean {
  return (plan.graph.forwardFrom.get(nodeId) ?? []).some(
    (edge) => handlesFailure(edge) && nodeOf(run, edge.targetNodeId)?.status !== "skipped",
  );
}

/** Whether a node ran after a gate that was not passed, or the gate is the end of its workflow. */
function followed(plan: Plan, run: Run, nodeId: string, gate: NodeState): boolean {
  if (isRefinedEnd(plan, nodeId, gate)) return true;
  return (plan.graph.forwardFrom.get(nodeId) ?? []).some(
    (edge) =>
      (leadsOn(run, edge, gate) || handlesFailure(edge)) && nodeOf(run, edge.targetNodeId)?.status !== "skipped",
  );
}

/** The next step of one node, if it has one. */
export function stepOf(plan: Plan, run: Run, node: WorkflowNode): Step | undefined {
  const state = nodeOf(run, node.id);
  if (state?.status === "interrupted") return { type: "start", node, attempt: state.attempt + 1 };
  if (state !== undefined || awaitsSupervisor(plan.graph, run, node)) return undefined;
  const outcome = triggerOutcome(plan, run, node.id);
  if (outcome === "wait") return undefined;
  if (outcome === "fire") {
    return node.disabled ? { type: "skip", node, reason: "disabled" } : { type: "start", node, attempt: 0 };
  }
  return unevaluated(plan, run, plan.graph.forwardInto.get(node.id) ?? []) ?? { type: "skip", node, reason: outcome };
}

/**
 * Whether a dispatch waits for its supervisor to decide in this round, also where another edge lets it begin: it would do, and ask about, the
 * decision of the round before, and the supervisor could replace that meanwhile.
 */
function awaitsSupervisor({ order }: Graph, run: Run, { typeId }: WorkflowNode): boolean {
  if (typeId !== DISPATCH) return false;
  const supervisor = order.find((one) => one.typeId === SUPERVISOR);
  return supervisor !== undefined && !isSettled(nodeOf(run, supervisor.id));
}

/** The failure of a run at a deciding condition that cannot be evaluated. Otherwise an unsuitable value could skip a gate or end a loop. */
function unevaluated({ graph }: Plan, run: Run, edges: readonly WorkflowEdge[]): Step | undefined {
  for (const edge of edges) {
    const source = nodeOf(run, edge.sourceNodeId);
    if (source === undefined || source.verdict !== undefined) continue;
    if (!FIRES_ON[edge.triggerRule ?? DEFAULT_TRIGGER_RULE].includes(statusAlong(graph, run, edge) ?? "")) continue;
    const problem = conditionProblem(run, edge, source);
    if (problem === undefined) continue;
    const message = `The condition from ${edge.sourceNodeId} to ${edge.targetNodeId} cannot be evaluated: ${problem}`;
    return { type: "fail", nodeId: edge.targetNodeId, error: { code: "condition_failed", message } };
  }
  return undefined;
}

/** Each distinct rule among the incoming edges is evaluated over the edges that have it; all must hold. */
function triggerOutcome(plan: Plan, run: Run, nodeId: string): "wait" | "fire" | string {
  let outcome: "fire" | string = "fire";
  for (const [rule, group] of plan.graph.rulesInto.get(nodeId) ?? []) {
    const one = ruleOutcome(plan.graph, run, rule, group);
    if (one === "wait") return "wait";
    if (one !== "fire") outcome = one;
  }
  return outcome;
}

/** The source statuses on which a rule fires. */
export const FIRES_ON: Readonly<Record<TriggerRule, readonly string[]>> = {
  any_success: ["completed"],
  any_failed: ["failed"],
  all_success: ["completed"],
  none_failed: ["completed"],
  all_complete: ["completed", "failed", "cancelled"],
};

function ruleOutcome(
  graph: Graph,
  run: Run,
  rule: TriggerRule,
  edges: readonly WorkflowEdge[],
): "wait" | "fire" | string {
  const fired = (statuses: readonly string[]) =>
    edges.some((edge) => {
      const source = nodeOf(run, edge.sourceNodeId);
      const status = statusAlong(graph, run, edge) ?? "";
      return source !== undefined && statuses.includes(status) && conditionHolds(run, edge, source);
    });
  const none = (statuses: readonly string[]) =>
    !edges.some((edge) => statuses.includes(statusAlong(graph, run, edge) ?? ""));

  // These two need not wait for slower siblings.
  if ((rule === "any_success" || rule === "any_failed") && fired(FIRES_ON[rule])) return "fire";
  if (!edges.every((edge) => isSettled(nodeOf(run, edge.sourceNodeId)))) return "wait";

  const holds =
    (rule === "all_success" && none(["failed", "cancelled", "skipped"]) && fired(FIRES_ON[rule])) ||
    (rule === "none_failed" && none(["failed", "cancelled"]) && fired(FIRES_ON[rule])) ||
    (rule === "all_complete" && fired(FIRES_ON[rule]));
  return holds ? "fire" : `trigger rule ${rule} not met`;
}

/**
 * An edge that leads back fires once per visit of its source; the loop resets the visit. While other nodes of the loop are active, the edge
 * waits for them, and the nodes that it will reset are held back.
 */
function loopBack(plan: Plan, run: Run): { readonly loop?: Step; readonly held: ReadonlySet<string> } {
  const held = new Set<string>();
  for (const [sourceId, edges] of plan.graph.backFrom) {
    const source = nodeOf(run, sourceId);
    if (source === undefined || endsLoop(plan, sourceId, source)) continue;
    for (const edge of edges) {
      if (!goesRound(plan, run, edge, source)) {
        const loop = unevaluated(plan, run, [edge]);
        if (loop) return { loop, held };
        continue;
      }
      const iteration = (own(run.loops, edge.id) ?? 0) + 1;
      const limit = loopLimit(plan, sourceId);
      if (iteration > limit) {
        return { loop: { type: "loop-limit", nodeId: edge.targetNodeId, iterations: iteration, limit }, held };
      }
      const reached = reachableFrom(plan.graph, edge.targetNodeId);
      const nodeIds = reached.filter((id) => nodeOf(run, id) !== undefined);
      if (nodeIds.every((id) => !isActive(nodeOf(run, id) as NodeState))) {
        return { loop: { type: "loop", edge, iteration, nodeIds }, held };
      }
      for (const id of reached) held.add(id);
    }
  }
  return { held };
}

/** Whether a loop goes round along this edge. Nodes between a failed dispatch and its supervisor are passed over. */
function goesRound({ graph }: Plan, run: Run, edge: WorkflowEdge, source: NodeState): boolean {
  if (source.status === "skipped") return returnsUndecided(graph, run, edge);
  return source.status === "completed" && leadsOn(run, edge, source);
}

/** Whether a dispatch ends the loop: no edge leads back from it, whatever its condition. */
function endsLoop(plan: Plan, nodeId: string, { outputs }: NodeState): boolean {
  return plan.graph.node.get(nodeId)?.typeId === DISPATCH && outputs?.["kind"] === "terminate";
}

/** A supervisor decides by itself how long its loop continues, within the limits of its run. */
function loopLimit(plan: Plan, sourceId: string): number {
  const own = plan.graph.node.get(sourceId)?.typeId === DISPATCH ? Number.POSITIVE_INFINITY : undefined;
  return plan.definition.settings.maxLoopbackIterations ?? own ?? DEFAULT_MAX_LOOPBACK_ITERATIONS;
}

/** The outputs of the last nodes: those of the only one, or of each under its id. */
function runOutputs(plan: Plan, run: Run): RunOutputs {
  const ends = plan.graph.order.filter(
    ({ id }) => (plan.graph.forwardFrom.get(id) ?? []).length === 0 && nodeOf(run, id)?.status === "completed",
  );
  const primary = ends.filter((node) => node.outputRole === "primary");
  const chosen = primary.length > 0 ? primary : ends;
  const all = joined(chosen, ({ id }) => ({ ...nodeOf(run, id)?.outputs }));
  const { outputs } = plan.sensitivity;
  if (!chosen.some(({ id }) => outputs.has(id))) return { all };
  return { all, shown: joined(chosen, ({ id }) => maskFields(nodeOf(run, id)?.outputs ?? {}, outputs.get(id))) };
}

function joined(
  nodes: readonly WorkflowNode[],
  outputsOf: (node: WorkflowNode) => Record<string, unknown>,
): Record<string, unknown> {
  const [first, ...others] = nodes;
  if (first !== undefined && others.length === 0) return outputsOf(first);
  return Object.fromEntries(nodes.map((node) => [node.id, outputsOf(node)]));
}
