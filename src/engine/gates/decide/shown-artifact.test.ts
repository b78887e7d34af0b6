import { describe, expect, test } from "vitest";
import { simulate } from "../../../testing/simulate.ts";
import { workflow } from "../../../testing/workflow.ts";

const variable = (variableName: string) => ({ type: "variable", variableName }) as const;

/** A gate that shows a variable, and beside it somebody who is asked for another value of that variable. */
const beside = (gate: { typeId: string; config: Readonly<Record<string, unknown>> }) =>
  simulate(
    workflow({
      nodes: {
        gate: { ...gate, inputs: { artifact: variable("draft") } },
        ask: { typeId: "core.clarificationGate", config: { questions: [{ id: "draft", question: "What else?" }] } },
        note: {
          typeId: "core.identity",
          inputs: { draft: { type: "expression", expression: "nodes.ask.outputs.answers.draft" } },
        },
        publish: "core.noop",
      },
      edges: ["ask>note", "gate>publish"],
      variables: [{ name: "draft", type: "string", defaultValue: "what was read" }],
    }),
  ).turn();

describe("what a gate hands on", () => {
  test("is what its voters were shown, whatever was written since to the variable that it showed", () => {
    const run = beside({ typeId: "core.approvalGate", config: {} });
    run.resolve("ask", { answers: { draft: "what nobody read" } }).go();
    expect(run.run.variables["draft"]).toBe("what nobody read");
    run.resolve("gate", { action: "accept" }).go();
    expect(run.run.nodes["gate"]?.outputs).toMatchObject({ approved: true, artifact: "what was read" });
  });
});
