import { perObject } from "../../../protocol/per-object.ts";
import { isSettled, nodeOf, type Run } from "../../../protocol/runs/run.ts";
import type { TriggerRule, WorkflowEdge, WorkflowNode } from "../../../protocol/workflows/workflow.ts";
import { conditionHolds } from "../../workflows/decide/condition.ts";
import type { Graph } from "../../workflows/decide/graph.ts";
import type { Plan } from "../../workflows/decide/plan.ts";
import { leadsOn, statusAlong } from "./edge-outcomes.ts";
import { FIRES_ON } from "./next-step.ts";

/**
 * Evaluates the conditions that `nextSteps` needs, in its order, and yields after each. Results are cached per source, so `nextSteps` finds
 * them. One evaluation is short; for those of thousands of nodes the caller can pause in between.
 */
export function conditionsAhead({ graph }: Plan, run: Run, among: readonly WorkflowNode[]): Iterable<void> {
  return hasConditions(graph) ? ahead(graph, run, among) : NONE;
}

const NONE: readonly never[] = [];

function* ahead(graph: Graph, run: Run, among: readonly WorkflowNode[]): Generator<void> {
  yield* backwards(graph, run);
  for (const { id } of among) {
    if (nodeOf(run, id) !== undefined) continue;
    for (const [rule, edges] of graph.rulesInto.get(id) ?? []) yield* forward(graph, run, rule, edges);
  }
  for (const [id, edges] of graph.forwardFrom) {
    const gate = nodeOf(run, id);
    if (gate?.verdict === undefined) continue;
    for (const edge of edges) {
      leadsOn(run, edge, gate);
      yield;
    }
  }
}

function* forward(graph: Graph, run: Run, rule: TriggerRule, edges: readonly WorkflowEdge[]): Generator<void> {
  const isEager = rule === "any_success" || rule === "any_failed";
  if (!isEager && !edges.every((edge) => isSettled(nodeOf(run, edge.sourceNodeId)))) return;
  for (const edge of edges) {
    const source = nodeOf(run, edge.sourceNodeId);
    if (source === undefined || !FIRES_ON[rule].includes(statusAlong(graph, run, edge) ?? "")) continue;
    if (conditionHolds(run, edge, source)) return;
    yield;
  }
}

function* backwards(graph: Graph, run: Run): Generator<void> {
  for (const [id, edges] of graph.backFrom) {
    const source = nodeOf(run, id);
    if (source?.status !== "completed") continue;
    for (const edge of edges) {
      leadsOn(run, edge, source);
      yield;
    }
  }
}

const hasConditions = perObject(({ forwardFrom, backFrom }: Graph) =>
  [...forwardFrom.values(), ...backFrom.values()].some((edges) =>
    edges.some(({ condition }) => condition !== undefined),
  ),
);
