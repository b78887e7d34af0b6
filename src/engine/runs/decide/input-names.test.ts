import { expect, test } from "vitest";
import type { AppError } from "../../../protocol/errors.ts";
import { workflow } from "../../../testing/workflow.ts";
import { checkInputNames } from "./start-run.ts";

const node = (config: object, inputs: object = {}) => ({ typeId: "core.noop", config, inputs }) as never;
const definition = workflow({
  nodes: {
    a: node({ inputMapping: { child: "mapped" }, prompt: "Write it in a friendly tone" }),
    b: node({}, { port: { type: "expression", expression: 'variables.first + variables["second one"]' } }),
    c: node({}, { port: { type: "variable", variableName: "third" } }),
  },
  variables: [{ name: "name", type: "string" }],
});

test.each(["name", "mapped", "first", "second one", "third"])(
  "an input that is declared or read is taken: %s",
  (name) => {
    expect(() => checkInputNames(definition, { [name]: "x" })).not.toThrow();
  },
);

test.each(["nmae", "tone", "second", "__proto__x", "child"])("an input that nothing reads is refused: %s", (name) => {
  expect(() => checkInputNames(definition, { [name]: "x" })).toThrow(`inputs.${name} is no input`);
});

test("a workflow without variables takes any input", () => {
  expect(() => checkInputNames({ ...definition, variables: [] }, { nmae: 1 })).not.toThrow();
});

test("a request with very many or very long unknown inputs is refused quickly, and the answer stays small", () => {
  const variables = Array.from({ length: 1000 }, (_, i) => ({ name: `variable${i}`, type: "string" as const }));
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`unknown${i}`, i]));
  const refusal = (inputs: Record<string, unknown>) => {
    try {
      checkInputNames({ ...definition, variables }, inputs);
    } catch (error) {
      return error as AppError;
    }
    return undefined;
  };
  expect(refusal(many)?.details["problems"]).toHaveLength(10);
  expect(refusal({ ["v".repeat(1_000_000)]: 1 })?.details["problems"]).toHaveLength(1);
});
