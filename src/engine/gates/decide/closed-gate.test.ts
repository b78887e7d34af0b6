import { describe, expect, test } from "vitest";
import type { EdgeCondition, TriggerRule } from "../../../protocol/workflows/workflow.ts";
import { simulate } from "../../../testing/simulate.ts";
import { type WorkflowSpec, workflow } from "../../../testing/workflow.ts";

type Edge = NonNullable<WorkflowSpec["edges"]>[number];

const governed = {
  typeId: "core.openwop.governance.approvalGate",
  config: { requiredRole: "reviewer", timeoutSec: 60 },
};
const plain = {
  typeId: "core.approvalGate",
  config: { actions: ["accept", "reject", "refine"], timeoutSec: 60 },
};
const refine = { action: "refine", refineFeedback: { scope: "whole", text: "Shorter." } };

/** Every way in which a gate is not passed; without a value, by time. */
const NOT_PASSED = [
  ["a governed gate that is rejected", governed, { decision: "rejected", reason: "No." }],
  ["a governed gate that nobody decides in time", governed, undefined],
  ["a plain gate that is rejected", plain, { action: "reject", feedback: "No." }],
  ["a plain gate that is to be refined", plain, refine],
  ["a plain gate that nobody decides in time", plain, undefined],
] as const;

const decided = (spec: WorkflowSpec, value: unknown) => {
  const run = simulate(workflow(spec)).turn();
  expect(run.run.status).toBe("waiting-approval");
  if (value !== undefined) run.resolve("gate", value);
  return run.go();
};
const neverRan = (run: ReturnType<typeof decided>, ...nodeIds: string[]) => {
  for (const id of nodeIds) expect(run.story).not.toContain(`node.started:${id}`);
};
const when = (left: string, type: "equals" | "notEquals", right: unknown): EdgeCondition => ({
  type,
  left,
  right,
});

describe.each(NOT_PASSED)("%s", (_, gate, value) => {
  const codes = /^(approval_rejected|approval_refined|interrupt_timeout)$/;

  test("does not open onto an edge without a condition", () => {
    const run = decided({ nodes: { gate, deploy: "core.noop" }, edges: ["gate>deploy"] }, value);
    neverRan(run, "deploy");
    expect(run.run.status).toBe("failed");
    expect(run.run.error?.code).toMatch(codes);
  });

  test.each([
    ["about its status", when("status", "equals", "completed")],
    ["that holds for every answer", when("output.decision", "notEquals", "no such thing")],
    ["about something else", when("variables.mood", "notEquals", "bad")],
    ["about the reason", { type: "expression", expression: "size(string(outputs)) >= 0" } as const],
    ["that says true", { type: "expression", expression: "true" } as const],
    ["that it was passed", when("output.approved", "equals", true)],
    ["that cannot be evaluated", { type: "expression", expression: "output.nothing.there == 1" } as const],
  ])("does not open onto an edge with a condition %s", (_, condition) => {
    const edge: Edge = { from: "gate", to: "deploy", condition };
    const run = decided({ nodes: { gate, deploy: "core.noop" }, edges: [edge] }, value);
    neverRan(run, "deploy");
    expect(run.run.status).toBe("failed");
  });

  test.each(["all_success", "none_failed", "any_success"] as TriggerRule[])(
    "does not open onto a join by %s, although the other branch got there",
    (triggerRule) => {
      const other = { typeId: "core.delay", config: { ms: 3_600_000 } };
      const edges: Edge[] = ["gate", "other"].map((from) => ({ from, to: "deploy", triggerRule }));
      const run = decided({ nodes: { gate, other, deploy: "core.noop" }, edges }, value);
      neverRan(run, "deploy");
      expect(run.run.status).toBe("failed");
      expect(run.run.error?.code).toMatch(codes);
    },
  );

  test("does not open onto a join by all_success when the other branch was there first", () => {
    const nodes = { gate, other: "core.noop", deploy: "core.noop" };
    const run = decided({ nodes, edges: ["gate>deploy", "other>deploy"] }, value);
    neverRan(run, "deploy");
    expect(run.run.status).toBe("failed");
  });

  test.each(["any_failed", "all_complete"] as TriggerRule[])(
    "is handled by a node that %s leads to, and by that alone",
    (triggerRule) => {
      const edges: Edge[] = [{ from: "gate", to: "cleanup", triggerRule }, "gate>deploy"];
      const run = decided({ nodes: { gate, cleanup: "core.noop", deploy: "core.noop" }, edges }, value);
      expect(run.run.status).toBe("completed");
      expect(run.run.nodes["cleanup"]?.status).toBe("completed");
      neverRan(run, "deploy");
    },
  );

  test.each(["any_failed", "all_complete"] as TriggerRule[])(
    "is not handled by %s where the condition of that edge asks for a pass",
    (triggerRule) => {
      const condition = { condition: { type: "equals" as const, left: "output.approved", right: true } };
      const edges: Edge[] = [{ from: "gate", to: "deploy", triggerRule, ...condition }];
      const run = decided({ nodes: { gate, deploy: "core.noop" }, edges }, value);
      neverRan(run, "deploy");
      expect(run.run.status).toBe("failed");
    },
  );

  test("is not handled by a node that is disabled", () => {
    const handler = { typeId: "core.noop", disabled: true };
    const edges: Edge[] = [{ from: "gate", to: "handler", triggerRule: "any_failed" }];
    const run = decided({ nodes: { gate, handler }, edges }, value);
    expect(run.run.status).toBe("failed");
    expect(run.run.error?.code).toMatch(codes);
  });

  test("is not handled by a node that another of its rules skips", () => {
    const edges: Edge[] = [
      { from: "gate", to: "handler", triggerRule: "any_failed" },
      { from: "other", to: "handler", triggerRule: "all_success", condition: when("status", "equals", "never") },
    ];
    const run = decided(
      { nodes: { gate, other: "core.noop", handler: "core.noop", after: "core.noop" }, edges },
      value,
    );
    neverRan(run, "handler");
    expect(run.run.status).toBe("failed");
    expect(run.run.error?.code).toMatch(codes);
  });

  test("does not open what comes after something it skipped", () => {
    const edges: Edge[] = [
      { from: "gate", to: "cleanup", triggerRule: "any_failed" },
      "gate>deploy",
      { from: "deploy", to: "announce", triggerRule: "none_failed" },
    ];
    const nodes = { gate, cleanup: "core.noop", deploy: "core.noop", announce: "core.noop" };
    const run = decided({ nodes, edges }, value);
    neverRan(run, "deploy", "announce");
  });
});

describe.each([
  ["governed", governed, { decision: "rejected" }, { decision: "granted" }, "rejected"],
  ["plain", plain, refine, { action: "accept" }, "refined"],
] as const)("an edge of a %s gate that selects the other outcome", (_, gate, against, inFavour, outcome) => {
  const nodes = { gate, deploy: "core.noop", repair: "core.noop" };

  test.each([
    ["by the decision", when("output.decision", "equals", outcome)],
    ["by what was not decided", when("output.decision", "notEquals", "granted")],
    ["by the outcome", when("outputs.outcome", "equals", outcome)],
    ["by what is not approved", { type: "falsy", left: "output.approved" } as const],
    ["by an expression", { type: "expression", expression: "!outputs.approved" } as const],
  ])("leads on when it is not passed, and not when it is: %s", (_, condition) => {
    const edges: Edge[] = ["gate>deploy", { from: "gate", to: "repair", condition }];
    const closed = decided({ nodes, edges }, against);
    expect(closed.run.status).toBe("completed");
    expect(closed.run.nodes["repair"]?.status).toBe("completed");
    neverRan(closed, "deploy");
    const open = decided({ nodes, edges }, inFavour);
    expect(open.run.status).toBe("completed");
    expect(open.run.nodes["deploy"]?.status).toBe("completed");
    neverRan(open, "repair");
  });

  test("is not enough when the node it leads to does not run in the end", () => {
    const condition = when("output.decision", "equals", outcome);
    const edges: Edge[] = [{ from: "gate", to: "repair", condition }];
    const disabled = { gate, repair: { typeId: "core.noop", disabled: true } };
    expect(decided({ nodes: disabled, edges }, against).run.status).toBe("failed");
    const joined = { gate, repair: "core.noop", other: "core.noop", never: "core.noop" };
    const more: Edge[] = [
      ...edges,
      { from: "other", to: "never", condition: when("status", "equals", "failed") },
      "never>repair",
    ];
    const run = decided({ nodes: joined, edges: more }, against);
    neverRan(run, "repair");
    expect(run.run.status).toBe("failed");
  });

  test("does not turn a node that both outcomes lead to into one that needs no pass", () => {
    const edges: Edge[] = [
      "gate>deploy",
      { from: "gate", to: "deploy", condition: when("output.decision", "equals", outcome) },
    ];
    const run = decided({ nodes: { gate, deploy: "core.noop" }, edges }, against);
    neverRan(run, "deploy");
    expect(run.run.status).toBe("failed");
  });
});

describe("a gate that nothing comes after", () => {
  test("fails the run when it is rejected", () => {
    expect(decided({ nodes: { gate: governed } }, { decision: "rejected" }).run.error?.code).toBe("approval_rejected");
    expect(decided({ nodes: { gate: plain } }, { action: "reject" }).run.error?.code).toBe("approval_rejected");
  });

  test("fails it at once, whatever else is waited for", () => {
    const run = simulate(workflow({ nodes: { gate: governed, other: plain } })).turn();
    expect(run.resolve("gate", { decision: "rejected" }).turn().run.error?.code).toBe("approval_rejected");
  });

  test("ends the run when it is to be refined: there is nothing that it could have opened", () => {
    expect(decided({ nodes: { gate: plain } }, refine).run.status).toBe("completed");
  });
});

describe("a governed gate that nobody decides in time", () => {
  test("goes the way of a rejection, with its reason", () => {
    const edges: Edge[] = [
      { from: "gate", to: "repair", condition: when("output.decision", "equals", "rejected") },
      "gate>deploy",
    ];
    const run = decided({ nodes: { gate: governed, repair: "core.noop", deploy: "core.noop" }, edges }, undefined);
    expect(run.run.nodes["repair"]?.status).toBe("completed");
    neverRan(run, "deploy");
    expect(run.run.nodes["gate"]?.outputs).toEqual({
      decision: "rejected",
      outcome: "rejected",
      action: "reject",
      approved: false,
      reason: "timeout",
    });
    const resolved = run.events.find(({ type }) => type === "interrupt.resolved");
    expect(resolved?.payload).toMatchObject({ kind: "approval", outcome: "rejected", reason: "timeout" });
    expect(run.story.filter((one) => one.startsWith("approval."))).toEqual([]);
  });

  test("is not opened by the grants it has, when they are too few", () => {
    const gate = { ...governed, config: { ...governed.config, quorum: 2 } };
    const run = simulate(workflow({ nodes: { gate, deploy: "core.noop" }, edges: ["gate>deploy"] })).turn();
    run.resolve("gate", { decision: "granted" }).go();
    expect(run.run).toMatchObject({ status: "failed", error: { code: "approval_rejected" } });
    neverRan(run, "deploy");
  });
});
