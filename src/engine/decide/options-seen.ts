import { nodeOf, type Run, visitOf } from "../../protocol/run.ts";
import type { WorkflowNode } from "../../protocol/workflow.ts";
import { type Graph, reachableFrom } from "./graph.ts";
import type { Plan } from "./plan.ts";

/** Expressions may compute the name of what they read. */
const READS_ANY = /\b(variables|configurable)\b/;

/**
 * Whether a result from before a gate may depend on options that a branch changes, or be what the branch replaces. Such a result is kept in the branch, so what the
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
  const { reads, writes } = mentionsOf(changed);
  // In a loop, nodes after the gate came before it too, and so did the conditions of the gate's own edges.
  const after = new Set(visitOf(run, nodeId) > 0 ? [] : reachableFrom(graph, nodeId));
  // A node that a loop reset has no state in this round; its results of earlier rounds may have been kept in variables.
  const hasRun = (id: string) => run.nodes[id] !== undefined || visitOf(run, id) > 0;
  const isBefore = (id: string) => !after.has(id) && hasRun(id);
  const saw = (node: WorkflowNode) =>
    isOpaque(node) || reads([node.config, node.inputs]) || writes(portsOf(graph, node));
  return (
    graph.order.some((node) => node.id !== nodeId && isBefore(node.id) && saw(node)) ||
    definition.edges.some(({ sourceNodeId, condition }) => isBefore(sourceNodeId) && reads(condition))
  );
}

/** What may name a variable that a node writes: its config, its inputs, and the ports that edges lead to. */
function portsOf({ forwardInto }: Graph, { id, config, inputs }: WorkflowNode): unknown {
  const carried = (forwardInto.get(id) ?? []).map(({ targetInput = "input" }) => [targetInput, true]);
  return [config, inputs, Object.fromEntries(carried)];
}

/**
 * The nodes whose results, where a branch keeps them, may depend on options that it changes, or may be one of them: a condition that
 * reads such a result leads where the first options led. Where that cannot be known, a node is among them.
 */
export function nodesThatSaw(
  { graph, definition }: Plan,
  run: Run,
  changed: readonly string[],
  isOpaque: (node: WorkflowNode) => boolean,
): readonly string[] {
  const { reads, writes } = mentionsOf(changed);
  const hasBegun = (id: string) => nodeOf(run, id) !== undefined || visitOf(run, id) > 0;
  const wasSkipped = (id: string) => nodeOf(run, id)?.status === "skipped" && visitOf(run, id) === 0;
  const saw = graph.order.filter((node) => {
    if (!hasBegun(node.id) || wasSkipped(node.id)) return false;
    return isOpaque(node) || reads([node.config, node.inputs]) || writes(portsOf(graph, node));
  });
  const led = definition.edges.filter(({ targetNodeId, condition }) => hasBegun(targetNodeId) && reads(condition));
  return [...saw.map(({ id }) => id), ...led.map(({ targetNodeId }) => targetNodeId)];
}

/** How a part of a definition mentions options: as a text that reads one, or as the name of what it writes. */
function mentionsOf(changed: readonly string[]) {
  const names = new Set(changed.map((one) => one.slice(one.indexOf(".") + 1)));
  // A path into an option, such as order.amount, reads the option. A name may have a dot itself.
  const isPath = (text: string) => names.has(text) || names.has(text.slice(0, Math.max(0, text.indexOf("."))));
  return {
    reads: (value: unknown) => stringsIn(value).some((text) => isPath(text) || READS_ANY.test(text)),
    writes: (value: unknown) => keysIn(value).some((name) => names.has(name)),
  };
}

function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function keysIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(keysIn)];
}
