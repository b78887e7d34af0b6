import { describe, expect, test } from "vitest";
import { fold, type Run } from "../../../protocol/runs/run.ts";
import type { EdgeCondition } from "../../../protocol/workflows/workflow.ts";
import { simulate } from "../../../testing/simulate.ts";
import { workflow } from "../../../testing/workflow.ts";
import { conditionsAhead } from "../../runs/decide/conditions-ahead.ts";
import { nextSteps } from "../../runs/decide/next-step.ts";
import { Deferral, deferring, TURN_LIMITS } from "../../schemas/decide/schema-deferral.ts";

const row = (last: number) => ({ texts: Array.from({ length: 60 }, (_, i) => `x${i}`), last });
const variables = [
  { name: "list", type: "array" as const },
  { name: "long", type: "string" as const },
  { name: "word", type: "string" as const },
];

describe("conditions behind one node", () => {
  const inputs = {
    list: Array.from({ length: 2_000 }, (_, i) => row(i)),
    long: "a".repeat(500_000),
    word: "a".repeat(9_000),
  };

  test.each<readonly [string, number, (i: number) => EdgeCondition]>([
    ["a list is searched for an object", 20, (i) => ({ type: "contains", left: "list", right: row(-1 - i) })],
    [
      "a text is searched for a long one",
      1,
      () => ({ type: "contains", left: "long", right: "a1a".padEnd(9_000, "a") }),
    ],
    ["a list is compared", 10, () => ({ type: "notEquals", left: "list", right: structuredClone(inputs.list) })],
    ["a pattern is searched for", 20, () => ({ type: "regex", left: "word", right: "(?:a?){20}a{20}b$" })],
  ])("share one budget where %s: one beyond it fails the run", (_, length, condition) => {
    const edges = Array.from({ length }, (_unused, i) => ({ from: "a", to: "b", condition: condition(i) }));
    const last = { from: "a", to: "c", condition: { type: "equals" as const, left: "status", right: "completed" } };
    const nodes = { a: "core.noop", b: "core.noop", c: "core.noop" };
    const many = simulate(workflow({ nodes, edges: [...edges, last], variables }), { inputs }).go();
    expect(many.run.error).toMatchObject({ code: "condition_failed" });
    const few = simulate(workflow({ nodes, edges: [last], variables }), { inputs }).go();
    expect(few.run.nodes["c"]?.status).toBe("completed");
  });
});

describe("conditions of many nodes", () => {
  const costly = (i: number) => `list.all(x, list.all(y, x + y >= ${i} - 100000))`.replaceAll("list", "variables.list");
  const ids = Array.from({ length: 10 }, (_, i) => i);
  const edge = (i: number, to: string) => ({
    from: `s${i}`,
    to,
    condition: { type: "expression" as const, expression: costly(i) },
  });
  const sources = ids.map((i) => [`s${i}`, "core.noop"] as const);
  const inputs = { list: Array.from({ length: 250 }, (_, i) => i) };

  test.each([
    ["each of another node", (i: number) => `t${i}`],
    ["all of one node", () => "t"],
  ])("are evaluated one at a time before steps are decided, %s", (_, target) => {
    const targets = ids.map((i) => [target(i), "core.noop"] as const);
    const nodes = Object.fromEntries([...sources, ...targets]);
    const rule = { triggerRule: "all_complete" as const };
    const denied = ids.map((i) => ({ ...edge(i, target(i)), ...rule }));
    const { plan, events } = simulate(workflow({ nodes, edges: denied.map(negated), variables }), { inputs }).go();
    const run = fold(events.slice(0, 1 + 2 * ids.length)) as Run;
    const deferral = new Deferral(TURN_LIMITS);
    const ahead = conditionsAhead(plan, run, plan.graph.order)[Symbol.iterator]();
    let pauses = 0;
    while (!deferring(deferral, () => ahead.next()).done) {
      pauses += deferral.needsPause ? 1 : 0;
      deferral.paused();
    }
    deferral.paused();
    const steps = deferring(deferral, () => nextSteps(plan, run));
    expect(steps.length).toBe(new Set(targets.map(([id]) => id)).size);
    expect([pauses, deferral.needsPause]).toEqual([ids.length, false]);
  });

  function negated(one: ReturnType<typeof edge>) {
    return { ...one, condition: { ...one.condition, expression: `!(${one.condition.expression})` } };
  }
});
