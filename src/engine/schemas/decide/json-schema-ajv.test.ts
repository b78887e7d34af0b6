import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { below, several } from "../../../testing/random-json.ts";
import { pick, type Random, randomFrom } from "../../../testing/random-workflow.ts";
import { compileSchema } from "./json-schema.ts";

/** Another implementation of the same draft must agree on every schema and value, valid or not. */

const NAMES = ["a", "b", "ab", "length"];
const TEXTS = ["", "a", "ab", "äöü😀", "2"];
const PATTERNS = ["^a", "b$", "[0-9]+", "^.{2}$"];
const NUMBERS = [-1, 0, 1, 1.5, 2, 3];

function randomValue(random: Random, depth: number): unknown {
  switch (below(random, depth > 0 ? 7 : 4)) {
    case 0:
      return null;
    case 1:
      return random() < 0.5;
    case 2:
      return pick(random, NUMBERS);
    case 3:
      return pick(random, TEXTS);
    case 4:
    case 5:
      return Object.fromEntries(several(random, 3, () => [pick(random, NAMES), randomValue(random, depth - 1)]));
    default:
      return several(random, 4, () => randomValue(random, depth - 1));
  }
}

const TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"];

function randomSchema(random: Random, depth: number): unknown {
  if (random() < 0.08) return random() < 0.7;
  const schema: Record<string, unknown> = {};
  for (let i = 0; i <= below(random, 3); i++) {
    const [keyword, make] = pick(random, Object.entries(depth > 0 ? { ...FLAT, ...NESTED } : FLAT));
    schema[keyword] = make(random, depth - 1);
  }
  // The other implementation leaves out one of the two.
  if (Object.hasOwn(schema, "prefixItems")) delete schema["contains"];
  return schema;
}

type Make = (random: Random, depth: number) => unknown;
const count: Make = (random) => below(random, 4);
const names: Make = (random) => [...new Set(several(random, 2, () => pick(random, NAMES)))];
const one: Make = randomSchema;
const list: Make = (random, depth) => [
  randomSchema(random, depth),
  ...several(random, 2, () => randomSchema(random, depth)),
];
const byName: Make = (random, depth) =>
  Object.fromEntries(several(random, 3, () => [pick(random, NAMES), randomSchema(random, depth)]));

const FLAT: Readonly<Record<string, Make>> = {
  type: (random) => (random() < 0.7 ? pick(random, TYPES) : [...new Set([pick(random, TYPES), pick(random, TYPES)])]),
  enum: (random) => [...new Set([randomValue(random, 2), randomValue(random, 1), pick(random, NUMBERS)])],
  const: (random) => randomValue(random, 2),
  maximum: (random) => pick(random, NUMBERS),
  exclusiveMinimum: (random) => pick(random, NUMBERS),
  multipleOf: (random) => pick(random, [0.5, 1, 2]),
  maxLength: count,
  minLength: count,
  pattern: (random) => pick(random, PATTERNS),
  maxItems: count,
  minItems: count,
  uniqueItems: (random) => random() < 0.8,
  maxProperties: count,
  minProperties: count,
  required: names,
  dependentRequired: (random) => ({ [pick(random, NAMES)]: names(random, 0) }),
  $ref: (random) => pick(random, ["#/$defs/x", "#/$defs/y", "#named", "inner.json", "inner.json#/properties/a"]),
};

const NESTED: Readonly<Record<string, Make>> = {
  allOf: list,
  anyOf: list,
  oneOf: list,
  not: one,
  if: one,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: one,
  else: one,
  items: one,
  prefixItems: list,
  contains: one,
  properties: byName,
  patternProperties: (random, depth) => ({ [pick(random, PATTERNS)]: randomSchema(random, depth) }),
  additionalProperties: one,
  propertyNames: one,
  dependentSchemas: byName,
  dependencies: (random, depth) => ({ a: names(random, 0), b: randomSchema(random, depth) }),
  unevaluatedProperties: one,
};

function whole(random: Random): Readonly<Record<string, unknown>> {
  const schema = randomSchema(random, 3);
  return {
    ...(typeof schema === "boolean" ? { allOf: [schema] } : (schema as object)),
    $defs: {
      x: randomSchema(random, 0),
      y: { $anchor: "named", ...(({ $ref, ...rest }) => rest)(Object(randomSchema(random, 0))) },
      z: { $id: "inner.json", type: ["object", "string"], properties: { a: { type: "integer" } } },
    },
  };
}

const SEEDS = 5;
const cases = Array.from({ length: SEEDS }, (_, seed) => seed);

describe("a schema and a value of chance", () => {
  test.each(cases)("are judged as another implementation judges them (seed %i)", (seed) => {
    const random = randomFrom(seed);
    for (let round = 0; round < 25; round++) {
      const schema = whole(random);
      const theirs = new Ajv2020({ strict: false, validateFormats: false, logger: false, allowUnionTypes: true });
      const validate = theirs.compile(schema);
      const check = compileSchema(schema, "schema");
      for (let i = 0; i < 20; i++) {
        const value = randomValue(random, 3);
        const problems = check(value);
        const held = validate(value);
        expect(problems.length === 0, JSON.stringify({ schema, value, problems, errors: validate.errors })).toBe(held);
      }
    }
  });
});
