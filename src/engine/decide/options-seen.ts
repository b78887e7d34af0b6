import { nodeOf, type Run, visitOf } from "../../protocol/run.ts";
import type { WorkflowNode } from "../../protocol/workflow.ts";
import { reachableFrom } from "./graph.ts";
import type { Plan } from "./plan.ts";

/** Expressions may compute the name of what they read. */
const READS_ANY = /\b(variables|configurable)\b/;

/** The parts of a workflow that read options which a branch changes. Found once for all gates: it looks at each text of the definition. */
export interface OptionReaders {
  readonly nodes: readonly string[];
  /** The sources of edges whose conditions read them. */
  readonly conditionsOf: readonly string[];
}

/**
 * @param changed as `changedOptions` names them
 * @param isOpaque whether a node may read options that neither its config nor its inputs name
 */
export function optionReaders(
  { graph, definition }: Plan,
  changed: readonly string[],
  isOpaque: (node: WorkflowNode) => boolean,
): OptionReaders {
  const { reads } = mentionsOf(changed);
  const nodes = graph.order.filter((node) => isOpaque(node) || reads([node.config, node.inputs]));
  const edges = definition.edges.filter(({ condition }) => reads(condition));
  return { nodes: nodes.map(({ id }) => id), conditionsOf: edges.map(({ sourceNodeId }) => sourceNodeId) };
}

/**
 * Whether a result from before a gate may depend on options that a branch changes. Such a result is kept in the branch, so what the
 * gate shows can be equal although everything after the gate sees other options. Where that cannot be known, it is yes.
 */
export function optionsSeenBefore({ graph }: Plan, run: Run, nodeId: string, readers: OptionReaders): boolean {
  // In a loop, nodes after the gate came before it too, and so did the conditions of the gate's own edges.
  const after = new Set(visitOf(run, nodeId) > 0 ? [] : reachableFrom(graph, nodeId));
  // A node that a loop reset has no state in this round; its results of earlier rounds may have been kept in variables.
  const hasRun = (id: string) => run.nodes[id] !== undefined || visitOf(run, id) > 0;
  const isBefore = (id: string) => !after.has(id) && hasRun(id);
  return readers.nodes.some((id) => id !== nodeId && isBefore(id)) || readers.conditionsOf.some(isBefore);
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
    return isOpaque(node) || reads([node.config, node.inputs]) || writes([node.config, node.inputs]);
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
