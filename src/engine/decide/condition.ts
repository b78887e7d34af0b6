import type { NodeState, Run } from "../../protocol/run.ts";
import type { EdgeCondition, WorkflowEdge } from "../../protocol/workflow.ts";
import { deepEqual } from "./deep-equal.ts";
import { compileExpression } from "./expression.ts";
import { compilePattern } from "./pattern.ts";

/**
 * Whether a settled source lets its edge fire. Operands look at `status`, `error`, `output` (the edge's source
 * port when the node has one of that name, else all outputs), `outputs`, `variables`; any other first name is a
 * variable. A condition that cannot be evaluated does not fire: closed, never open.
 */
export function conditionHolds(run: Run, edge: WorkflowEdge, source: NodeState): boolean {
  const { condition } = edge;
  if (condition === undefined) return true;
  const answers = ANSWERS.get(source) ?? new Map<WorkflowEdge, Answer>();
  ANSWERS.set(source, answers);
  const known = answers.get(edge);
  if (known?.variables === run.variables) return known.holds;
  const holds = evaluated(condition, conditionContext(run, edge, source));
  answers.set(edge, { variables: run.variables, holds });
  return holds;
}

interface Answer {
  readonly variables: Run["variables"];
  readonly holds: boolean;
}

/** A condition is asked about at every step of a run; its answer changes only with the source and the variables. */
const ANSWERS = new WeakMap<NodeState, Map<WorkflowEdge, Answer>>();

function evaluated(condition: EdgeCondition, context: Record<string, unknown>): boolean {
  try {
    return evaluate(condition, context);
  } catch {
    return false;
  }
}

function evaluate(condition: EdgeCondition, context: Record<string, unknown>): boolean {
  const type = condition.type ?? (condition.expression === undefined ? "truthy" : "expression");
  if (type === "expression") return compileExpression(condition.expression ?? "false")(context) === true;
  const left = lookUp(context, condition.left ?? "");
  switch (type) {
    case "equals":
      return deepEqual(left, condition.right);
    case "notEquals":
      return !deepEqual(left, condition.right);
    case "contains":
      return contains(left, condition.right);
    case "regex":
      return typeof left === "string" && compilePattern(String(condition.right))(left);
    case "truthy":
      return Boolean(left);
    case "falsy":
      return !left;
  }
}

function conditionContext(run: Run, edge: WorkflowEdge, source: NodeState): Record<string, unknown> {
  const outputs = source.outputs ?? {};
  const port = edge.sourceOutput ?? "output";
  return {
    variables: run.variables,
    status: source.status,
    error: source.error ?? null,
    outputs,
    output: Object.hasOwn(outputs, port) ? outputs[port] : outputs,
  };
}

/** `output.review.score`, `variables.count`, or just `count`. Missing steps give undefined. */
export function lookUp(context: Readonly<Record<string, unknown>>, path: string): unknown {
  const steps = path.split(".");
  const root = steps[0] ?? "";
  let value: unknown = Object.hasOwn(context, root) ? context : context["variables"];
  for (const step of steps) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

function contains(left: unknown, right: unknown): boolean {
  if (typeof left === "string") return typeof right === "string" && left.includes(right);
  if (Array.isArray(left)) return left.some((item) => deepEqual(item, right));
  if (typeof left === "object" && left !== null) return typeof right === "string" && Object.hasOwn(left, right);
  return false;
}
