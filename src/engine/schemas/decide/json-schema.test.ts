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

test.each([
  { $async: true },
  { $async: true, required: ["a"] },
  { properties: { a: { $async: true, type: "string" } } },
  { $ref: "#/$defs/a", $defs: { a: { $async: true, type: "string" } } },
])("%j is no schema: its answer would come too late", (schema) => {
  expect(() => compileSchema(schema, "schema")).toThrow(/not a usable JSON Schema/);
});

const LEVELS = 60;
const twice = (of: (level: number) => unknown) =>
  Object.fromEntries(Array.from({ length: LEVELS }, (_, level) => [`d${level}`, { allOf: [of(level), of(level)] }]));

test("a schema that refers to the same place twice at each of many levels is given up, and nothing matches it", () => {
  const $defs = { ...twice((level) => ({ $ref: `#/$defs/d${level + 1}` })), [`d${LEVELS}`]: {} };
  const problem = expect.stringContaining("too much work");
  expect(compileSchema({ $ref: "#/$defs/d0", $defs }, "schema")({})).toMatchObject([{ problem }]);
  // Neither does its opposite.
  expect(compileSchema({ not: { $ref: "#/$defs/d0" }, $defs }, "schema")({})).toMatchObject([{ problem }]);
  const nested = JSON.parse(`${"[".repeat(LEVELS)}${"]".repeat(LEVELS)}`);
  const items = { allOf: [{ items: { $ref: "#" } }, { items: { $ref: "#" } }] };
  expect(compileSchema(items, "schema")(nested)).toMatchObject([{ problem }]);
});

test("a schema may refer to one place from as many others as it likes", () => {
  const properties = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`p${i}`, { $ref: "#/$defs/name" }]));
  const check = compileSchema({ properties, $defs: { name: { type: "string" } } }, "schema");
  const value = Object.fromEntries(Object.keys(properties).map((name) => [name, "x"]));
  expect(check(value)).toEqual([]);
  expect(check({ ...value, p7: 7 })).toMatchObject([{ path: "/p7" }]);
});

test("items are unique however their members are ordered, and finding out takes no longer for many", () => {
  const check = compileSchema({ uniqueItems: true }, "schema");
  const many = Array.from({ length: 50_000 }, (_, i) => ({ i, name: "x" }));
  expect(check(many)).toEqual([]);
  expect(check([...many, { name: "x", i: 7 }])).toMatchObject([{ problem: "must NOT have duplicate items" }]);
  expect(check([1, "1", [1], { a: 1 }, { a: "1" }, null, "null"])).toEqual([]);
  expect(compileSchema({ uniqueItems: false }, "schema")([1, 1])).toEqual([]);
});

test("a large pattern is not searched for in a large text, and that is no match of the opposite either", () => {
  const pattern = "[a-z]{500}[0-9]{500}";
  const text = "a".repeat(500_000);
  expect(compileSchema({ pattern }, "schema")(text)).toMatchObject([{ problem: expect.stringContaining("too much") }]);
  expect(compileSchema({ not: { pattern } }, "schema")(text)).toHaveLength(1);
  expect(compileSchema({ pattern }, "schema")(`${"a".repeat(500)}${"0".repeat(500)}`)).toEqual([]);
});

test("an enumeration of thousands of objects is searched once for each item, not once for each pair", () => {
  const members = Array.from({ length: 5000 }, (_, i) => ({ id: i, of: { name: "x" } }));
  const check = compileSchema({ items: { enum: members } }, "schema");
  const items = Array.from({ length: 10_000 }, (_, i) => ({ of: { name: "x" }, id: i % 5000 }));
  // In pairs it would be 50 million comparisons, ten times what one check may take.
  expect(check(items)).toEqual([]);
  expect(check([...items, { id: 1 }])).toMatchObject([{ path: "/10000", problem: expect.stringContaining("allowed") }]);
});

test("a constant, and lists of alternatives, are charged for each value that they are compared with", () => {
  const large = Array.from({ length: 2000 }, (_, i) => i);
  const alternatives = Array.from({ length: 50 }, (_, i) => ({ const: [...large, i] }));
  const problem = expect.stringContaining("too much work");
  const values = Array.from({ length: 200 }, () => [...large, "no"]);
  expect(compileSchema({ items: { anyOf: [...alternatives, true] } }, "schema")(values)).toMatchObject([{ problem }]);
  expect(compileSchema({ items: { oneOf: [...alternatives, true] } }, "schema")(values)).toMatchObject([{ problem }]);
});

test("names that every object has are not taken for members", () => {
  const check = compileSchema({ required: ["constructor"], properties: { toString: { type: "string" } } }, "schema");
  expect(check({})).toMatchObject([{ problem: "must have required property 'constructor'" }]);
  expect(check({ constructor: 1 })).toEqual([]);
});

test("a value may be held to the schema of schemas", () => {
  const check = compileSchema({ $ref: "https://json-schema.org/draft/2020-12/schema" }, "schema");
  expect(check({ type: "object" })).toEqual([]);
  expect(check({ type: "thing" })).toHaveLength(1);
});

test("a dynamic reference leads to the outermost schema of its name", () => {
  const tree = { $id: "tree", $dynamicAnchor: "node", properties: { children: { items: { $dynamicRef: "#node" } } } };
  const strict = { $id: "strict", $dynamicAnchor: "node", $ref: "tree", unevaluatedProperties: false, $defs: { tree } };
  const check = compileSchema(strict, "schema");
  expect(check({ children: [{ children: [] }] })).toEqual([]);
  expect(check({ children: [{ childen: [] }] })).toMatchObject([{ path: "/children/0" }]);
});

test("a schema of another draft is refused by its name", () => {
  const schema = { $schema: "http://json-schema.org/draft-07/schema#" };
  expect(() => compileSchema(schema, "schema")).toThrow(/\$schema must be .*2020-12/);
});
