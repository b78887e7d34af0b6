import { type Run, visitOf } from "../../protocol/run.ts";
import type { WorkflowNode } from "../../protocol/workflow.ts";
import { reachableFrom } from "./graph.ts";
import type { Plan } from "./plan.ts";

/** Expressions may compute the name of what they read. */
const READS_ANY = /\b(variables|configurable)\b/;

/**
 * Whether a result from before a gate may depend on options that a branch changes. Such a result is kept in the branch, so what the
 * gate shows can be equal although everything after the gate sees other options. Where that cannot be known, it is yes.
 *
 * @param changed as `changedOptions` names them
 * @param isOpaque whether a node may read options that neither its config nor its inputs name
 */
export function optionsSeenBefore(
  { graph, definition }: Plan,
  run: Run,
  nodeId: string,
  changed: readonly string[],
  isOpaque: (node: WorkflowNode) => boolean,
): boolean {
  const names = new Set(changed.map((one) => one.slice(one.indexOf(".") + 1)));
  // In a loop, nodes after the gate came before it too, and so did the conditions of the gate's own edges.
  const after = new Set(visitOf(run, nodeId) > 0 ? [] : reachableFrom(graph, nodeId));
  // A node that a loop reset has no state in this round; its results of earlier rounds may have been kept in variables.
  const hasRun = (id: string) => run.nodes[id] !== undefined || visitOf(run, id) > 0;
  const isBefore = (id: string) => !after.has(id) && hasRun(id);
  const reads = (value: unknown) => stringsIn(value).some((text) => names.has(text) || READS_ANY.test(text));
  return (
    graph.order.some(
      (node) => node.id !== nodeId && isBefore(node.id) && (isOpaque(node) || reads([node.config, node.inputs])),
    ) || definition.edges.some(({ sourceNodeId, condition }) => isBefore(sourceNodeId) && reads(condition))
  );
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
