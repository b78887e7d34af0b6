import type { ASTNode, Environment } from "@marcbachmann/cel-js";
import { currentDeferral } from "../../schemas/decide/schema-deferral.ts";
import { TooCostly } from "../../schemas/decide/work-budget.ts";

/** The work of one evaluation, less than 0.1 s: a step of the expression is one unit, and operations on lists and texts cost by their size. */
export const UNITS_MAX = 1_000_000;
const CHARACTERS_PER_UNIT = 16;
/** Joining two texts copies nothing; the result is copied when it is read. */
const JOINED_PER_UNIT = 64;
/** Searching one text in another compares each character with each in the worst case. */
const COMPARED_PER_UNIT = 64;
const COUNTED_PER_UNIT = 4;
/** An error has a stack, and a time zone is looked up by name. */
const ERROR_UNITS = 50;
const TIME_ZONE_UNITS = 2_000;

/** Units that several evaluations share. */
export interface Allowance {
  units: number;
}

type Handle = (...args: readonly unknown[]) => unknown;

/** The parts of a node of cel-js that its declarations leave out. */
interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly meta: { readonly alternate?: Node };
  handle?: Handle;
  evaluate(evaluator: Evaluator, node: Node, context: unknown): unknown;
}

interface Evaluator {
  run(node: Node, context: unknown): unknown;
  tryEval(node: Node, context: unknown): unknown;
}

/**
 * Counts the work of evaluations and ends those that take too much: the sizes of intermediate lists and texts are not known beforehand. Work is
 * counted, not timed, so that a replay decides like its source.
 */
export class ExpressionMeter {
  #left = 0;
  readonly #metered = new WeakSet<Node>();

  constructor(environment: Environment) {
    const probe = environment.parse("true");
    let found: Evaluator | undefined;
    nodeOf(probe.ast).evaluate = (evaluator) => {
      found = evaluator;
      return true;
    };
    probe({});
    if (found === undefined) throw new Error("cel-js evaluates in another way than this version expects");
    found.run = (node, context) => this.#run(found as Evaluator, node, context);
    found.tryEval = (node, context) => this.#tryRun(found as Evaluator, node, context);
  }

  /** Prepares a program. Checking its types determines its operations; a program with wrong types is never evaluated. */
  prepare(program: { readonly ast: ASTNode; check(): unknown }): void {
    program.check();
    this.#meter(nodeOf(program.ast));
  }

  /** Evaluates within the rest of an allowance, or within a new one. Throws `TooCostly`. */
  during<T>(evaluate: () => T, allowance: Allowance = { units: UNITS_MAX }): T {
    this.#left = allowance.units;
    try {
      return evaluate();
    } finally {
      // A turn of many nodes pauses between them once they have held the thread for some time.
      currentDeferral()?.spend(allowance.units - this.#left);
      allowance.units = this.#left;
    }
  }

  charge(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new TooCostly("an expression goes through too many items");
  }

  #run(evaluator: Evaluator, node: Node, context: unknown): unknown {
    this.charge(1);
    if (!this.#metered.has(node)) this.#meter(node);
    return node.evaluate(evaluator, node, context);
  }

  /** Loops and `||` go on after an error, except after the last unit. */
  #tryRun(evaluator: Evaluator, node: Node, context: unknown): unknown {
    try {
      return this.#run(evaluator, node, context);
    } catch (error) {
      if (error instanceof TooCostly) throw error;
      this.charge(ERROR_UNITS);
      return error;
    }
  }

  #meter(node: Node): void {
    this.#metered.add(node);
    const acting = node.meta.alternate ?? node;
    const { handle } = acting;
    if (handle === undefined) return;
    acting.handle = (...args) => {
      this.charge(this.#costOf(acting, args));
      return handle(...args);
    };
  }

  #costOf({ op, args: parts }: Node, given: readonly unknown[]): number {
    const [first, second] = given;
    switch (op) {
      case "+":
        return lengthOf(first, JOINED_PER_UNIT) + lengthOf(second, JOINED_PER_UNIT);
      case "in":
        return lengthOf(second) * (1 + this.#sizeOf(first));
      case "==":
      case "!=":
      case "<":
      case "<=":
      case ">":
      case ">=":
        return Math.min(this.#sizeOf(first), this.#sizeOf(second));
      case "comprehension":
        return Array.isArray(first) ? 0 : lengthOf(first);
      case "call":
      case "rcall":
        return this.#costOfCall((parts as readonly [string])[0], first as readonly unknown[]);
      default:
        return 0;
    }
  }

  #costOfCall(name: string, [first, second]: readonly unknown[]): number {
    switch (name) {
      case "contains":
      case "indexOf":
      case "lastIndexOf":
        return searched(first, second);
      case "split":
        return searched(first, second) + parts(first, second);
      case "join":
        return this.#sizeOf(first) + (lengthOf(first) * textLength(second)) / CHARACTERS_PER_UNIT;
      case "size":
        return typeof first === "string" ? first.length / COUNTED_PER_UNIT : keysOf(first);
      case "json":
        return lengthOf(first, 2);
      case "duration":
        // Its pattern tries every part of a text of digits.
        return textLength(first) ** 3 / CHARACTERS_PER_UNIT;
      default:
        if (first instanceof Date && second !== undefined) return TIME_ZONE_UNITS;
        return lengthOf(first) + lengthOf(second);
    }
  }

  /** All parts of a value; counting ends with the budget, because a small value may refer to one part a thousand times. */
  #sizeOf(value: unknown): number {
    return sizeUpTo(value, this.#left);
  }
}

function nodeOf(ast: ASTNode): Node {
  return ast as unknown as Node;
}

function sizeUpTo(value: unknown, atMost: number): number {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return 1 + lengthOf(value);
  let size = 1;
  for (const item of Array.isArray(value) ? value : Object.values(value)) {
    if (size > atMost) return size;
    size += sizeUpTo(item, atMost - size);
  }
  return size;
}

function lengthOf(value: unknown, perUnit = CHARACTERS_PER_UNIT): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length / perUnit;
  if (Array.isArray(value)) return value.length;
  return keysOf(value);
}

function keysOf(value: unknown): number {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Uint8Array) return 0;
  return Object.keys(value).length;
}

function textLength(value: unknown): number {
  return typeof value === "string" ? value.length : 0;
}

function searched(text: unknown, word: unknown): number {
  return (textLength(text) * (1 + textLength(word))) / COMPARED_PER_UNIT;
}

/** The items that a text may be split into: each takes as much as several characters. */
function parts(text: unknown, separator: unknown): number {
  const width = textLength(separator);
  return width === 0 ? textLength(text) : textLength(text) / width / COUNTED_PER_UNIT;
}
