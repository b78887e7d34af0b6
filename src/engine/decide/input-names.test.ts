import { expect, test } from "vitest";
import { workflow } from "../../testing/workflow.ts";
import { checkInputNames } from "./input-names.ts";

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
