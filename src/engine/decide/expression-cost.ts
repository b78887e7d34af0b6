import type { ASTNode } from "@marcbachmann/cel-js";
import { TooCostly } from "./too-costly.ts";

/** What decides how long an expression takes, beside the values it is about. */
export interface Work {
  /** How deep it goes through lists for each item of another. */
  readonly nested: number;
  /** Whether for each item lists may be joined, searched or compared. */
  readonly heavy: boolean;
  /** Items of its longest literal list. */
  readonly longest: number;
  /** Whether a text may become a list of its letters. */
  readonly splits: boolean;
}

/** Through a list, and for each item through another one. What goes deeper is a program, not a condition. */
const NESTED_MAX = 2;
/** Sums of lists are lists; sums of sums soon hold more than there is memory. */
const SUMS_MAX = 100;
const LOOPS_WITH_SUMS_MAX = 2;
/** Items that may be looked at, or copied, as far as can be told beforehand: about a second, and some hundred megabytes. */
const ITEMS_MAX = 30_000_000;

const LOOPS: ReadonlySet<string> = new Set(["all", "exists", "exists_one", "map", "filter"]);

/** Throws `TooCostly` for what could take for ever, or all memory, whatever the values are. */
export function workOf(ast: ASTNode): Work {
  const found = { nested: 0, heavy: false, longest: 0, splits: false, joins: false, sums: 0, loopsWithSums: 0 };
  visit(ast, 0);
  if (found.nested > NESTED_MAX) refuse(`goes through lists inside of lists more than ${NESTED_MAX} deep`);
  if (found.sums > SUMS_MAX) refuse(`has more than ${SUMS_MAX} sums`);
  if (found.loopsWithSums > LOOPS_WITH_SUMS_MAX) refuse(`adds up in more than ${LOOPS_WITH_SUMS_MAX} loops`);
  if (found.splits && (found.joins || found.sums > 0)) refuse("must not split and put together texts at once");
  return found;

  function visit(node: ASTNode, nested: number): void {
    found.nested = Math.max(found.nested, nested);
    if (node.op === "+") found.sums += 1;
    if (node.op === "list") found.longest = Math.max(found.longest, node.args.length);
    if (nested > 0 && isHeavy(node)) found.heavy = true;
    if (node.op !== "call" && node.op !== "rcall") {
      for (const child of nodesIn(node.args)) visit(child, nested);
      return;
    }
    const [name] = node.args;
    // It would run a pattern of the author's on a backtracking engine.
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

/** Comparing with a literal is done in no time. */
function isHeavy({ op, args }: ASTNode): boolean {
  if (op === "+" || op === "in") return true;
  return (op === "==" || op === "!=") && (args as readonly ASTNode[]).every((side) => side.op !== "value");
}

function nodesIn(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(nodesIn);
  return typeof args === "object" && args !== null && "op" in args ? [args as ASTNode] : [];
}

function refuse(problem: string): never {
  throw new TooCostly(`an expression ${problem}`);
}

/** Throws `TooCostly` when what it is about is too much for it. */
export function requireAffordable(work: Work, context: Readonly<Record<string, unknown>>): void {
  const { nested, heavy, longest, splits } = work;
  if (nested < 2 && !heavy) return;
  const found = { longest, total: longest };
  measure(context, found, splits);
  if (found.longest ** nested * (heavy ? found.total : 1) > ITEMS_MAX) refuse("goes through too many items");
}

/** The members of the largest list or object, and of all of them; letters too, where texts are split into them. */
function measure(value: unknown, found: { longest: number; total: number }, letters: boolean): void {
  const text = typeof value === "string";
  if (text ? !letters : typeof value !== "object" || value === null) return;
  const members: readonly unknown[] = text ? [] : Object.values(value as object);
  const length = text ? value.length : members.length;
  found.longest = Math.max(found.longest, length);
  found.total += length;
  for (const member of members) measure(member, found, letters);
}
