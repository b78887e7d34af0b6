import type { NodeState, Run } from "../../../protocol/runs/run.ts";
import type { EdgeCondition, WorkflowEdge } from "../../../protocol/workflows/workflow.ts";
import { deepEqual } from "../../schemas/decide/deep-equal.ts";
import { currentDeferral } from "../../schemas/decide/schema-deferral.ts";
import { TooCostly } from "../../schemas/decide/work-budget.ts";
import { compileExpression } from "./expression.ts";
import { type Allowance, UNITS_MAX } from "./expression-meter.ts";
import { compilePattern } from "./pattern.ts";

/**
 * Whether the condition of an edge holds for its settled source. Operands refer to `status`, `error`, `output` (the edge's source port if the
 * node has one of that name, else all outputs), `outputs` and `variables`; any other first name is a variable. A condition that cannot be
 * evaluated does not hold.
 */
export function conditionHolds(run: Run, edge: WorkflowEdge, source: NodeState): boolean {
  return answerOf(run, edge, source) === true;
}

/** Why a condition cannot be evaluated: the values have unsuitable types, or it takes too much work. */
export function conditionProblem(run: Run, edge: WorkflowEdge, source: NodeState): string | undefined {
  const answer = answerOf(run, edge, source);
  return typeof answer === "boolean" ? undefined : answer.problem;
}

function answerOf(run: Run, edge: WorkflowEdge, source: NodeState): Answer {
  const { condition } = edge;
  if (condition === undefined) return true;
  const kept = ANSWERS.get(source);
  const answers = kept?.variables === run.variables ? kept : begin(source, run.variables);
  const known = answers.byEdge.get(edge);
  if (known !== undefined) return known;
  const answer = evaluated(condition, conditionContext(run, edge, source), answers.allowance);
  answers.byEdge.set(edge, answer);
  return answer;
}

type Answer = boolean | { readonly problem: string };

/** The results of the conditions of one source, for unchanged variables. The conditions share one allowance of work. */
interface Answers {
  readonly variables: Run["variables"];
  readonly byEdge: Map<WorkflowEdge, Answer>;
  readonly allowance: Allowance;
}

/** Results are cached: conditions are evaluated at every step of a run, and depend only on the source and the variables. */
const ANSWERS = new WeakMap<NodeState, Answers>();

function begin(source: NodeState, variables: Run["variables"]): Answers {
  const answers: Answers = { variables, byEdge: new Map(), allowance: { units: UNITS_MAX } };
  ANSWERS.set(source, answers);
  return answers;
}

function evaluated(condition: EdgeCondition, context: Record<string, unknown>, allowance: Allowance): Answer {
  try {
    return evaluate(condition, context, allowance);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { problem: message.split("\n")[0] ?? "" };
  }
}

function evaluate(condition: EdgeCondition, context: Record<string, unknown>, allowance: Allowance): boolean {
  const type = condition.type ?? (condition.expression === undefined ? "truthy" : "expression");
  if (type === "expression") return truthOf(compileExpression(condition.expression ?? "false")(context, allowance));
  const left = lookUp(context, condition.left ?? "");
  switch (type) {
    case "equals":
      return deepEqual(left, condition.right, chargeTo(allowance));
    case "notEquals":
      return !deepEqual(left, condition.right, chargeTo(allowance));
    case "contains":
      return !isAbsent(left) && contains(left, condition.right, chargeTo(allowance));
    case "regex":
      return !isAbsent(left) && hasMatch(left, String(condition.right), chargeTo(allowance));
    case "truthy":
      return Boolean(left);
    case "falsy":
      return !left;
  }
}

function truthOf(value: unknown): boolean {
  if (typeof value !== "boolean") throw new Error(`the expression is ${nameOf(value)}, and neither true nor false`);
  return value;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return isAbsent(value) ? "nothing" : `of type ${typeof value}`;
}

type Charge = (units: number) => void;

/** The work of a comparison is counted like that of an expression: values and patterns may be large. */
function chargeTo(allowance: Allowance): Charge {
  const deferral = currentDeferral();
  return (units) => {
    allowance.units -= units;
    if (allowance.units < 0) throw new TooCostly("the conditions behind a node take too much work");
    deferral?.spend(units);
  };
}

/** States of a pattern times characters of a text, for one unit. */
const STEPS_PER_UNIT = 4;

function hasMatch(text: unknown, source: string, charge: Charge): boolean {
  if (typeof text !== "string") throw new Error(`a pattern is for texts, and the value is ${nameOf(text)}`);
  const pattern = compilePattern(source);
  charge((pattern.states * text.length) / STEPS_PER_UNIT);
  return pattern(text);
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
function lookUp(context: Readonly<Record<string, unknown>>, path: string): unknown {
  const steps = path.split(".");
  const root = steps[0] ?? "";
  let value: unknown = Object.hasOwn(context, root) ? context : context["variables"];
  for (const step of steps) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

/** In the worst case a search compares each character of the text with each of the word. */
const COMPARED_PER_UNIT = 256;

function contains(left: unknown, right: unknown, charge: Charge): boolean {
  if (typeof left === "string") {
    if (typeof right !== "string") throw new Error(`a text contains texts, and the searched value is ${nameOf(right)}`);
    if (right.length > left.length) return false;
    charge(((left.length - right.length) * (1 + right.length)) / COMPARED_PER_UNIT);
    return left.includes(right);
  }
  if (Array.isArray(left)) return left.some((item) => deepEqual(item, right, charge));
  if (typeof left === "object" && left !== null && typeof right === "string") return Object.hasOwn(left, right);
  throw new Error(`contains is for texts, lists and objects, and the values are ${nameOf(left)} and ${nameOf(right)}`);
}
