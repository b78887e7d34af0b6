import { Environment } from "@marcbachmann/cel-js";
import { AppError } from "../../../protocol/errors.ts";
import { TooCostly } from "../../schemas/decide/too-costly.ts";
import { requireBounded } from "./expression-cost.ts";
import { type Allowance, ExpressionMeter } from "./expression-meter.ts";

/**
 * Expressions in edges and inputs are CEL, the Common Expression Language: no loops, no side effects, limits on
 * size and depth. `matches` is left out because it would run a pattern of the author's on a backtracking engine;
 * the `regex` condition does that job in linear time.
 */
const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 1000, maxDepth: 50 },
});

const meter = new ExpressionMeter(environment);

type Expression = (context: Readonly<Record<string, unknown>>, allowance?: Allowance) => unknown;

const compiled = new Map<string, Expression>();
/** Characters of all expressions that are kept compiled, which take about a hundred times as much: some tens of megabytes. */
export const KEPT_CHARACTERS_MAX = 524_288;
let keptCharacters = 0;

/** Characters of the expressions that are kept compiled now. */
export function keptExpressionCharacters(): number {
  return [...compiled.keys()].reduce((sum, { length }) => sum + length, 0);
}

/** Throws `validation_error` when the text is not an expression, or one that nobody could afford. */
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
    if (error instanceof TooCostly) throw new AppError("validation_error", { problem: error.message });
    const problem = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new AppError("validation_error", { problem: `the expression does not parse: ${problem}` });
  }
}

/**
 * CEL integers are BigInt; JSON has none. What JSON cannot hold at all is refused: the log would give back something
 * else than was decided with.
 */
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
