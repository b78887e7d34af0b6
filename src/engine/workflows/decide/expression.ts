import { type ASTNode, Environment } from "@marcbachmann/cel-js";
import { validationError } from "../../../protocol/errors.ts";
import { TooCostly } from "../../schemas/decide/work-budget.ts";
import { type Allowance, ExpressionMeter } from "./expression-meter.ts";

/**
 * Expressions in edges and inputs are CEL, the Common Expression Language: no loops, no side effects, limits on size and depth. `matches` is left
 * out because it would run a pattern of the author on a backtracking engine; the `regex` condition takes linear time.
 */
const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 1000, maxDepth: 50 },
});

const meter = new ExpressionMeter(environment);

type Expression = (context: Readonly<Record<string, unknown>>, allowance?: Allowance) => unknown;

const compiled = new Map<string, Expression>();
/** Characters of all cached expressions, which take about a hundred times as many bytes: some tens of megabytes. */
export const KEPT_CHARACTERS_MAX = 524_288;
let keptCharacters = 0;

/** Characters of the expressions that are cached now. */
export function keptExpressionCharacters(): number {
  return [...compiled.keys()].reduce((sum, { length }) => sum + length, 0);
}

/** Throws `validation_error` for a text that is no expression, or one that takes too much work. */
export function compileExpression(text: string): Expression {
  const held = compiled.get(text);
  if (held) return held;
  const program = parseCel(text);
  const expression: Expression = (context, allowance) => meter.during(() => plain(program({ ...context })), allowance);
  if (keptCharacters + text.length > KEPT_CHARACTERS_MAX) {
    compiled.clear();
    keptCharacters = 0;
  }
  compiled.set(text, expression);
  keptCharacters += text.length;
  return expression;
}

function parseCel(text: string): (context: Record<string, unknown>) => unknown {
  try {
    const program = environment.parse(text);
    requireBounded(program.ast);
    meter.prepare(program);
    return program;
  } catch (error) {
    if (error instanceof TooCostly) throw validationError(error.message);
    const problem = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw validationError(`the expression does not parse: ${problem}`);
  }
}

/** The result as JSON: CEL integers are BigInt. Values without a form in JSON are refused, because the log would return other values. */
function plain(value: unknown): unknown {
  meter.charge(1);
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error("the result is not a finite number");
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [String(key), plain(item)]));
  if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
  }
  if (typeof value === "object" && value !== null) throw new Error("the result is of a type that JSON does not have");
  return value;
}

/** Nested loops over lists. */
const NESTED_MAX = 2;
/** Sums of lists are lists, and sums of sums soon exceed the memory. */
const SUMS_MAX = 100;
const LOOPS_WITH_SUMS_MAX = 2;

const LOOPS: ReadonlySet<string> = new Set(["all", "exists", "exists_one", "map", "filter"]);

/** Throws `TooCostly` for programs that are too costly for any values; `ExpressionMeter` bounds the others. */
function requireBounded(ast: ASTNode): void {
  const found = { nested: 0, splits: false, joins: false, sums: 0, loopsWithSums: 0 };
  visit(ast, 0);
  if (found.nested > NESTED_MAX) refuse(`goes through lists inside of lists more than ${NESTED_MAX} deep`);
  if (found.sums > SUMS_MAX) refuse(`has more than ${SUMS_MAX} sums`);
  if (found.loopsWithSums > LOOPS_WITH_SUMS_MAX) refuse(`adds up in more than ${LOOPS_WITH_SUMS_MAX} loops`);
  if (found.splits && (found.joins || found.sums > 0)) refuse("must not split and put together texts at once");

  function visit(node: ASTNode, nested: number): void {
    found.nested = Math.max(found.nested, nested);
    if (node.op === "+") found.sums += 1;
    if (node.op !== "call" && node.op !== "rcall") {
      for (const child of nodesIn(node.args)) visit(child, nested);
      return;
    }
    const [name] = node.args;
    // It would run a pattern of the author on a backtracking engine.
    if (name === "matches") refuse('must not call matches(); use a condition of type "regex"');
    if (name === "bind") refuse("must not call cel.bind()");
    if (name === "split") found.splits = true;
    if (name === "join") found.joins = true;
    const loops = node.op === "rcall" && LOOPS.has(name);
    if (node.op === "rcall") visit(node.args[1], nested);
    const sums = found.sums;
    for (const child of nodesIn(node.args.at(-1))) visit(child, loops ? nested + 1 : nested);
    if (loops && found.sums > sums) found.loopsWithSums += 1;
  }
}

function nodesIn(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(nodesIn);
  return typeof args === "object" && args !== null && "op" in args ? [args as ASTNode] : [];
}

function refuse(problem: string): never {
  throw new TooCostly(`an expression ${problem}`);
}
