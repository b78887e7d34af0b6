import type { ASTNode } from "@marcbachmann/cel-js";
import { TooCostly } from "../../schemas/decide/too-costly.ts";

/** Through a list, and for each item through another one. What goes deeper is a program, not a condition. */
const NESTED_MAX = 2;
/** Sums of lists are lists; sums of sums soon hold more than there is memory. */
const SUMS_MAX = 100;
const LOOPS_WITH_SUMS_MAX = 2;

const LOOPS: ReadonlySet<string> = new Set(["all", "exists", "exists_one", "map", "filter"]);

/** Throws `TooCostly` for programs that are no conditions, whatever the values are; `ExpressionMeter` bounds the rest. */
export function requireBounded(ast: ASTNode): void {
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

function nodesIn(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(nodesIn);
  return typeof args === "object" && args !== null && "op" in args ? [args as ASTNode] : [];
}

function refuse(problem: string): never {
  throw new TooCostly(`an expression ${problem}`);
}
