import { expect, test } from "vitest";
import { compileSchema } from "./json-schema.ts";

test("every pattern of a schema is held to, each its own", () => {
  const check = compileSchema({ properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } } }, "schema");
  expect(check({ a: "a", b: "b" })).toEqual([]);
  expect(check({ a: "b" })).toMatchObject([{ path: "/a" }]);
  expect(check({ b: "a" })).toMatchObject([{ path: "/b" }]);
});

test("a pattern that would take for ever elsewhere is answered at once", () => {
  const check = compileSchema({ pattern: "^(a+)+$" }, "schema");
  expect(check("a".repeat(5000))).toEqual([]);
  expect(check(`${"a".repeat(5000)}b`)).toHaveLength(1);
});

test.each([{ $ref: "#" }, { allOf: [{ $ref: "#" }] }])("nothing matches %j, which has no end", (schema) => {
  expect(compileSchema(schema, "schema")({})).toMatchObject([{ problem: expect.stringContaining("without end") }]);
});

test("a schema may refer to itself one level further into the value", () => {
  const check = compileSchema({ type: "object", additionalProperties: { $ref: "#" } }, "schema");
  expect(check({ a: { b: {} } })).toEqual([]);
  expect(check({ a: { b: 1 } })).toMatchObject([{ path: "/a/b" }]);
});
