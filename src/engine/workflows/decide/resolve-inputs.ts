import type { RunError } from "../../../protocol/events.ts";
import { own } from "../../../protocol/own.ts";
import { nodeOf, type Run } from "../../../protocol/runs/run.ts";
import type { PortValue, WorkflowEdge, WorkflowNode } from "../../../protocol/workflows/workflow.ts";
import { compileExpression } from "./expression.ts";
import { type Allowance, UNITS_MAX } from "./expression-meter.ts";
import type { Plan } from "./plan.ts";

/** The error code of a node whose inputs are missing. */
export const INPUT_INVALID = "node_input_invalid";

type Resolved = { readonly inputs: Readonly<Record<string, unknown>> } | { readonly error: RunError };

/** The inputs of a node: its own ports, and the values that forward edges carry to other ports. A missing value is an error unless the port is optional. */
export function resolveInputs(plan: Plan, run: Run, node: WorkflowNode): Resolved {
  const inputs: Record<string, unknown> = {};
  for (const edge of plan.graph.forwardInto.get(node.id) ?? []) {
    const carried = carriedBy(run, edge);
    if (carried) inputs[edge.targetInput ?? "input"] = carried.value;
  }
  // The ports of a node share the work of one evaluation.
  const allowance = { units: UNITS_MAX };
  for (const [port, from] of Object.entries(node.inputs)) {
    try {
      const value = portValue(run, from, allowance);
      if (value !== undefined) inputs[port] = value;
      else if (!isOptional(from)) return missing(node.id, port, from);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { error: { code: INPUT_INVALID, message: `Input ${port} of node ${node.id}: ${problem}` } };
    }
  }
  return { inputs };
}

function carriedBy(run: Run, edge: WorkflowEdge): { value: unknown } | undefined {
  const source = nodeOf(run, edge.sourceNodeId);
  const port = edge.sourceOutput ?? "output";
  if (source?.status !== "completed" || !Object.hasOwn(source.outputs ?? {}, port)) return undefined;
  return { value: source.outputs?.[port] };
}

function portValue(run: Run, from: PortValue, allowance: Allowance): unknown {
  switch (from.type) {
    case "static":
      return from.value;
    case "variable":
      return own(run.variables, from.variableName);
    case "connection":
      return own(nodeOf(run, from.nodeId)?.outputs, from.outputKey);
    case "expression": {
      // Collecting the outputs of thousands of nodes takes time: it is done only for expressions that use them.
      const nodes = from.expression.includes("nodes") ? outputsByNode(run) : {};
      return compileExpression(from.expression)({ variables: run.variables, nodes }, allowance);
    }
  }
}

function outputsByNode(run: Run): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(run.nodes).map(([id, node]) => [id, { status: node.status, outputs: node.outputs ?? {} }]),
  );
}

function isOptional(from: PortValue): boolean {
  return (from.type === "connection" || from.type === "variable") && from.optional === true;
}

function missing(nodeId: string, port: string, from: PortValue): Resolved {
  const what =
    from.type === "variable"
      ? `variable ${from.variableName} has no value`
      : from.type === "connection"
        ? `node ${from.nodeId} has no output ${from.outputKey}`
        : "it has no value";
  return { error: { code: INPUT_INVALID, message: `Input ${port} of node ${nodeId}: ${what}.` } };
}
