import { describe, expect, test } from "vitest";
import { codeOf } from "../../../testing/judges.ts";
import { simulate } from "../../../testing/simulate.ts";
import { workflow } from "../../../testing/workflow.ts";

const KINDS = {
  custom: { customKind: "amount" },
  "external-event": { eventType: "payment.asked", correlation: { orderId: 7 } },
};
type Kind = keyof typeof KINDS;

/** Somebody says an amount; a large one is asked about before it is paid. */
const asking = (kind: Kind, more: Readonly<Record<string, unknown>> = {}) =>
  simulate(
    workflow({
      nodes: {
        wait: { typeId: "core.interrupt", config: { kind, data: KINDS[kind], ...more } },
        gate: { typeId: "core.approvalGate", config: {} },
        pay: {
          typeId: "core.identity",
          inputs: { amount: { type: "connection", nodeId: "wait", outputKey: "amount" } },
        },
      },
      edges: [
        { from: "wait", to: "gate", condition: { type: "expression", expression: "output.amount > 1000.0" } },
        { from: "wait", to: "pay", triggerRule: "none_failed" },
        { from: "gate", to: "pay", triggerRule: "none_failed" },
      ],
    }),
  ).turn();

const ANSWER = { orderId: 7, amount: 5000 };

describe("an answer with a member called output", () => {
  test.each<Kind>(["custom", "external-event"])(
    "that says one thing to a condition and another to a node is refused: %s",
    (kind) => {
      const run = asking(kind);
      expect(codeOf(() => run.resolve("wait", { ...ANSWER, output: { amount: 1 } }))).toBe("validation_error");
      run.resolve("wait", ANSWER).go();
      expect(run.run.status).toBe("waiting-approval");
    },
  );

  test("is taken where the schema of the answer names it", () => {
    const run = asking("custom", { resumeSchema: { properties: { output: { type: "object" } } } });
    run.resolve("wait", { amount: 5, output: { amount: 1 } }).go();
    expect(run.run.status).toBe("completed");
  });

  test("is taken where it is what the event is told by", () => {
    const data = { eventType: "payment.asked", correlation: { output: { amount: 7 } } };
    const run = asking("external-event", { data });
    run.resolve("wait", { output: { amount: 7 }, amount: 7 }).go();
    expect(run.run.status).toBe("completed");
  });
});
