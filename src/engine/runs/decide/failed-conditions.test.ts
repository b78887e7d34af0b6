import { describe, expect, test } from "vitest";
import type { EdgeCondition } from "../../../protocol/workflows/workflow.ts";
import { simulate } from "../../../testing/simulate.ts";
import { type WorkflowSpec, workflow } from "../../../testing/workflow.ts";

const expression = (text: string): EdgeCondition => ({ type: "expression", expression: text });

const runOf = (spec: WorkflowSpec, inputs: Record<string, unknown> = {}) => simulate(workflow(spec), { inputs }).go();

describe("a condition that cannot be evaluated", () => {
  const large = expression("variables.items.exists(i, i.a > 1000.0)");
  const marked: EdgeCondition = { type: "regex", left: "text", right: "(confidential|secret)" };
  const asks = (condition: EdgeCondition): WorkflowSpec => ({
    nodes: { check: "core.noop", gate: { typeId: "core.approvalGate", config: {} }, pay: "core.noop" },
    edges: [
      { from: "check", to: "gate", condition },
      { from: "check", to: "pay", triggerRule: "none_failed" },
      { from: "gate", to: "pay", triggerRule: "none_failed" },
    ],
    variables: [
      { name: "items", type: "array", defaultValue: [] },
      { name: "text", type: "string", defaultValue: "" },
      { name: "order", type: "object", defaultValue: {} },
    ],
  });
  const noted = (type: "regex" | "contains"): EdgeCondition => ({ type, left: "order.note", right: "confidential" });

  test.each<[string, EdgeCondition, Record<string, unknown>]>([
    ["for the type of a value", large, { items: [{ a: "5000" }] }],
    ["within its budget", marked, { text: `${" ".repeat(300_000)}confidential` }],
    ["to true or false", expression("variables.order.abroad"), { order: { abroad: "true" } }],
    ["because a pattern is for texts", noted("regex"), { order: { note: ["confidential"] } }],
    ["because a number contains nothing", noted("contains"), { order: { note: 7 } }],
    ["because a text contains only texts", { type: "contains", left: "text", right: 7 }, { text: "7" }],
  ])("%s leaves out no gate: the run fails", (_, condition, inputs) => {
    const { run, story } = runOf(asks(condition), inputs);
    expect(run.error).toMatchObject({ code: "condition_failed" });
    expect(run.error?.message).toMatch(/^The condition from check to gate cannot be evaluated: ./);
    expect(story).not.toContain("node.started:pay");
  });

  test.each(["regex", "contains"] as const)("is none that looks for something where there is nothing: %s", (type) => {
    expect(runOf(asks(noted(type))).run.status).toBe("completed");
  });

  test("ends no loop: the run fails", () => {
    const { run, story } = runOf({
      nodes: { check: "core.noop", publish: "core.noop" },
      edges: ["check>publish", { from: "check", to: "check", condition: expression("variables.left > 0.0") }],
      variables: [{ name: "left", type: "string", defaultValue: "many" }],
    });
    expect(run.error).toMatchObject({ code: "condition_failed" });
    expect(story).not.toContain("node.started:publish");
  });

  test("decides nothing where another edge leads to the node", () => {
    const edges: WorkflowSpec["edges"] = [
      { from: "a", to: "c", condition: expression("variables.nothing.there == 1.0") },
      "b>c",
    ];
    const { run } = runOf({ nodes: { a: "core.noop", b: "core.noop", c: "core.noop" }, edges });
    expect(run.status).toBe("completed");
    expect(run.nodes["c"]?.status).toBe("completed");
  });

  test("decides nothing behind a source whose outcome the rule does not take", () => {
    const condition = expression("variables.nothing.there == 1.0");
    const edges: WorkflowSpec["edges"] = [{ from: "a", to: "tidy", triggerRule: "any_failed", condition }];
    expect(runOf({ nodes: { a: "core.noop", tidy: "core.noop" }, edges }).run.status).toBe("completed");
  });
});
