import type { WorkflowEdge } from "../../protocol/workflow.ts";
import { type Graph, reachableFrom } from "./graph.ts";
import type { Plan } from "./plan.ts";
import { isSureToRun } from "./sure-to-run.ts";

/** The nodes that run in every round in which no node fails: no condition is on the way to them. */
export function alwaysRun(plan: Plan): ReadonlySet<string> {
  const found = new Set<string>();
  for (const node of plan.graph.order) {
    if (isSureToRun(plan, node, found, () => false)) found.add(node.id);
  }
  return found;
}

/** The node, and those that do not run in a round in which it does not complete. */
function needing({ order, rulesInto }: Graph, nodeId: string): ReadonlySet<string> {
  const found = new Set([nodeId]);
  const isFrom = ({ sourceNodeId }: WorkflowEdge) => found.has(sourceNodeId);
  for (const { id } of order) {
    const needs = (rulesInto.get(id) ?? []).some(([rule, edges]) => {
      if (rule === "all_success") return edges.some(isFrom);
      return (rule === "any_success" || rule === "none_failed") && edges.every(isFrom);
    });
    if (needs) found.add(id);
  }
  return found;
}

/** The ways past a gate. */
export interface WaysPast {
  /** Whether edges lead forward from the gate to the node. */
  isAfter(nodeId: string): boolean;
  /**
   * Whether a node may run in a round without a decision of the gate in that round, on account of a condition that an earlier
   * decision or a result may have met. A node that runs before the gate in any case never waited for it.
   */
  has(nodeId: string): boolean;
}

export function waysPast({ graph }: Plan, gateId: string, always: ReadonlySet<string>): WaysPast {
  const after = new Set(reachableFrom(graph, gateId));
  const needs = needing(graph, gateId);
  // These rules wait for the gate, and do not fire where it is rejected.
  const awaitsGate = ([rule, edges]: readonly [string, readonly WorkflowEdge[]]) =>
    (rule === "all_success" || rule === "none_failed") && edges.some(({ sourceNodeId }) => sourceNodeId === gateId);
  const waits = (id: string) => always.has(gateId) && (graph.rulesInto.get(id) ?? []).some(awaitsGate);
  return {
    isAfter: (id) => after.has(id),
    has: (id) => (after.has(id) ? !(needs.has(id) || waits(id)) : !always.has(id)),
  };
}
