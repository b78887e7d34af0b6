import { expect, test } from "vitest";
import { registeredSchema, SCHEMA_LIMITS } from "./schema-limits.ts";

const many = <T>(length: number, make: (i: number) => T) => Array.from({ length }, (_, i) => make(i));

test("a schema of thousands of properties is registered, and its values are held to it", () => {
  const properties = Object.fromEntries(many(3000, (i) => [`p${i}`, { type: "string", maxLength: 10 }]));
  const check = registeredSchema({ properties, additionalProperties: false }, "schema");
  expect(check({ p2999: "x" })).toEqual([]);
  expect(check({ p2999: 1 })).toMatchObject([{ path: "/p2999" }]);
});

const nested = (depth: number): Record<string, unknown> => (depth === 0 ? {} : { items: nested(depth - 1) });

test.each([
  ["characters", { description: "x".repeat(SCHEMA_LIMITS.characters) }],
  ["values", { enum: many(SCHEMA_LIMITS.values, (i) => i) }],
  ["levels", nested(SCHEMA_LIMITS.depth)],
  ["patterns", { allOf: many(SCHEMA_LIMITS.patterns + 1, (i) => ({ pattern: `^${i}` })) }],
  ["patterns", { patternProperties: Object.fromEntries(many(SCHEMA_LIMITS.patterns + 1, (i) => [`^${i}`, {}])) }],
])("a schema with too many %s is refused with a code", (what, schema) => {
  expect(() => registeredSchema(schema, "resumeSchema")).toThrow(
    expect.objectContaining({ code: "schema_too_large", message: expect.stringContaining(what) }),
  );
});
