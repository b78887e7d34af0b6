import { describe, expect, test } from "vitest";
import { simulate } from "../../testing/simulate.ts";
import { type WorkflowSpec, workflow } from "../../testing/workflow.ts";
import { optionReaders, optionsSeenBefore } from "./options-seen.ts";

const TEXT = { name: "text", type: "string", defaultValue: "x" } as const;
const reading = (expression: string) => ({
  typeId: "core.identity",
  inputs: { a: { type: "expression", expression } },
});
const FROM_TEXT = { typeId: "core.identity", inputs: { a: { type: "variable", variableName: "text" } } };

/** Whether something before `gate` may have seen `inputs.text`, in a run that waits there. */
function seen(spec: object, isOpaque = (_: { id: string }) => false): boolean {
  const run = simulate(workflow({ variables: [TEXT], ...spec } as WorkflowSpec)).go();
  return optionsSeenBefore(run.plan, run.run, "gate", optionReaders(run.plan, ["inputs.text"], isOpaque));
}
const withFirst = (first: unknown, more: object = {}) => ({
  nodes: { first, gate: "core.approvalGate", after: "core.noop" },
  edges: ["first>gate", "gate>after"],
  ...more,
});

describe("an option that a branch changes was seen before a gate", () => {
  test.each([
    ["by an input that names it", FROM_TEXT],
    ["by an expression over variables, whatever name it computes", reading("variables['te' + 'xt']")],
    ["by an expression over options, whatever name it computes", reading("configurable['te' + 'xt']")],
    ["by the config of a node", { typeId: "core.noop", config: { deep: [{ name: "text" }] } }],
  ])("%s", (_, first) => {
    expect(seen(withFirst(first))).toBe(true);
  });

  test("by the condition of an edge before the gate, and not by one after it", () => {
    const condition = { type: "truthy", left: "variables.text" };
    const edges = [{ from: "first", to: "gate", condition }, "gate>after"];
    expect(seen(withFirst("core.noop", { edges }))).toBe(true);
    expect(seen(withFirst("core.noop", { edges: ["first>gate", { from: "gate", to: "after", condition }] }))).toBe(
      false,
    );
  });

  test("by a node whose reads are not known, before the gate only", () => {
    expect(seen(withFirst("core.noop"), ({ id }) => id === "first")).toBe(true);
    expect(seen(withFirst("core.noop"), ({ id }) => id === "after")).toBe(false);
  });

  test("not by nodes that read nothing, nor by those after the gate", () => {
    expect(seen(withFirst("core.noop"))).toBe(false);
    const nodes = { first: "core.noop", gate: "core.approvalGate", after: FROM_TEXT };
    expect(seen(withFirst("core.noop", { nodes }))).toBe(false);
  });

  describe("in a loop", () => {
    const condition = { type: "equals", left: "output.decision", right: "refined" } as const;
    const gate = { typeId: "core.approvalGate", config: { actions: ["accept", "refine"], requireBoundVotes: false } };
    const REFINE = { action: "refine", refineFeedback: { scope: "whole", text: "shorter" } };

    test.each([
      ["by a node after the gate", FROM_TEXT, condition, REFINE],
      [
        "by the condition of an edge of the gate",
        "core.noop",
        { type: "truthy", left: "variables.text" },
        { action: "accept" },
      ],
    ])("%s, once the loop came back from there", (_, after, leaving, answer) => {
      const nodes = { first: "core.noop", gate, after };
      const edges = ["first>gate", { from: "gate", to: "after", condition: leaving }, "after>first"];
      const run = simulate(workflow({ nodes, edges, variables: [TEXT] } as unknown as WorkflowSpec)).go();
      const readers = optionReaders(run.plan, ["inputs.text"], () => false);
      const isSeen = () => optionsSeenBefore(run.plan, run.run, "gate", readers);
      expect(isSeen()).toBe(false);
      run.resolve("gate", answer).go();
      expect(isSeen()).toBe(true);
    });
  });
});
