import type { ASTNode } from "@marcbachmann/cel-js";
import { TooCostly } from "./too-costly.ts";

/** What decides how long an expression takes, apart from the values it is about. */
export interface Work {
  /** Operations by the number of loops around them. */
  readonly operations: readonly number[];
  /** Operations that may join, search or compare all there is, by the number of loops around them. */
  readonly heavy: readonly number[];
  /** The same of those that can do so with items of lists only. */
  readonly heavyOnItems: readonly number[];
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
/** Operations of one evaluation, as far as can be told beforehand: less than 50 ms. */
const OPERATIONS_MAX = 1_000_000;
/** Operations that one member of a list or object counts as when it is joined, searched or compared. */
const HEAVY = 3;
/** Members of all lists and objects that an expression with loops may be about; counting more takes too long by itself. */
const MEMBERS_MAX = 1_000_000;

const LOOPS: ReadonlySet<string> = new Set(["all", "exists", "exists_one", "map", "filter"]);

/** Throws `TooCostly` for what could take for ever, or all memory, whatever the values are. */
export function workOf(ast: ASTNode): Work {
  const found = { longest: 0, splits: false, joins: false, sums: 0, loopsWithSums: 0 };
  const operations = [0, 0, 0];
  const heavy = [0, 0, 0];
  const heavyOnItems = [0, 0, 0];
  visit(ast, 0, new Set());
  if (found.sums > SUMS_MAX) refuse(`has more than ${SUMS_MAX} sums`);
  if (found.loopsWithSums > LOOPS_WITH_SUMS_MAX) refuse(`adds up in more than ${LOOPS_WITH_SUMS_MAX} loops`);
  if (found.splits && (found.joins || found.sums > 0)) refuse("must not split and put together texts at once");
  return { ...found, operations, heavy, heavyOnItems };

  /** @param items the names of items of lists that were given to the expression */
  function visit(node: ASTNode, nested: number, items: ReadonlySet<string>): void {
    if (nested > NESTED_MAX) refuse(`goes through lists inside of lists more than ${NESTED_MAX} deep`);
    operations[nested] = (operations[nested] ?? 0) + 1;
    if (node.op === "+") found.sums += 1;
    if (node.op === "list") found.longest = Math.max(found.longest, node.args.length);
    if (isHeavy(node)) {
      const counts = isOnItems(node, items) ? heavyOnItems : heavy;
      counts[nested] = (counts[nested] ?? 0) + 1;
    }
    if (node.op !== "call" && node.op !== "rcall") {
      for (const child of nodesIn(node.args)) visit(child, nested, items);
      return;
    }
    const [name] = node.args;
    // It would run a pattern of the author's on a backtracking engine.
    if (name === "matches") refuse('must not call matches(); use a condition of type "regex"');
    if (name === "bind") refuse("must not call cel.bind()");
    if (name === "split") found.splits = true;
    if (name === "join") found.joins = true;
    const loops = node.op === "rcall" && LOOPS.has(name);
    if (node.op === "rcall") visit(node.args[1], nested, items);
    const sums = found.sums;
    const inside = loops ? itemsWithin(node.args[1], nodesIn(node.args.at(-1))[0], items) : items;
    for (const child of nodesIn(node.args.at(-1))) visit(child, loops ? nested + 1 : nested, inside);
    if (loops && found.sums > sums) found.loopsWithSums += 1;
  }
}

/** Comparing with a literal is done in no time. */
function isHeavy({ op, args }: ASTNode): boolean {
  if (op === "+" || op === "in") return true;
  return (op === "==" || op === "!=") && (args as readonly ASTNode[]).every((side) => side.op !== "value");
}

/** Whether the operation touches no more than items: an equality ends with the smaller side, a search goes through the right one. */
function isOnItems({ op, args }: ASTNode, items: ReadonlySet<string>): boolean {
  const [left, right] = args as readonly [ASTNode, ASTNode];
  if (op === "in") return isOfItem(right, items);
  if (op === "+") return isOfItem(left, items) && isOfItem(right, items);
  return isOfItem(left, items) || isOfItem(right, items);
}

/** A literal, an item, a member of an item, or what is computed from such. */
function isOfItem({ op, args }: ASTNode, items: ReadonlySet<string>): boolean {
  if (op === "value") return true;
  if (op === "id") return items.has(args as string);
  if (op === "." || op === "[]") return isOfItem((args as unknown as readonly [ASTNode])[0], items);
  return (op === "+" || op === "-" || op === "*") && nodesIn(args).every((side) => isOfItem(side, items));
}

/** The names of items inside a loop. Items of a list that the expression makes itself may be as large as all there is. */
function itemsWithin(list: ASTNode, name: ASTNode | undefined, items: ReadonlySet<string>): ReadonlySet<string> {
  if (name?.op !== "id") return items;
  const named = new Set(items);
  if (isGiven(list)) named.add(name.args as string);
  else named.delete(name.args as string);
  return named;
}

function isGiven({ op, args }: ASTNode): boolean {
  if (op === "id") return true;
  if (op === "." || op === "[]") return isGiven((args as unknown as readonly [ASTNode])[0]);
  const [name, list] = args as unknown as readonly [string, ASTNode];
  return op === "rcall" && name === "filter" && isGiven(list);
}

function nodesIn(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(nodesIn);
  return typeof args === "object" && args !== null && "op" in args ? [args as ASTNode] : [];
}

function refuse(problem: string): never {
  throw new TooCostly(`an expression ${problem}`);
}

/** Throws `TooCostly` when the values are too many for the expression. Expressions without loops are affordable whatever they are about. */
export function requireAffordable(work: Work, context: Readonly<Record<string, unknown>>): void {
  if (work.operations.slice(1).every((count) => count === 0)) return;
  const found = { longest: work.longest, total: work.longest, largestItem: 1 };
  measure(context, found, work.splits);
  const sum = (counts: readonly number[], each: number) =>
    counts.reduce((all, count, nested) => all + count * each * found.longest ** nested, 0);
  const { operations, heavy, heavyOnItems } = work;
  const compared = sum(heavy, HEAVY * found.total) + sum(heavyOnItems, HEAVY * found.largestItem);
  if (sum(operations, 1) + compared > OPERATIONS_MAX) refuse("goes through too many items");
}

interface Measured {
  /** Members of the largest list or object; letters too, where texts are split into them. */
  longest: number;
  /** Members of all of them. */
  total: number;
  /** Members of all that the largest item of a list holds, and the item itself. */
  largestItem: number;
}

function measure(value: unknown, found: Measured, letters: boolean): void {
  const text = typeof value === "string";
  if (text ? !letters : typeof value !== "object" || value === null) return;
  const length = text ? value.length : Array.isArray(value) ? value.length : Object.keys(value as object).length;
  found.longest = Math.max(found.longest, length);
  found.total += length;
  if (found.total > MEMBERS_MAX) refuse("is about too many items");
  if (text) return;
  for (const member of Object.values(value as object)) {
    const before = found.total;
    measure(member, found, letters);
    if (Array.isArray(value)) found.largestItem = Math.max(found.largestItem, 1 + found.total - before);
  }
}
