import { describe, expect, test } from "vitest";
import { MASK } from "../events.ts";
import { withoutCredentials, withoutDeclared } from "./secret-options.ts";

const SECRET = { type: "string", writeOnly: true };

describe("what a JSON Schema declares secret", () => {
  test.each([
    ["by writeOnly", { properties: { a: SECRET } }, { a: "x", b: "y" }, { a: MASK, b: "y" }],
    ["by its format", { properties: { a: { format: "password" } } }, { a: "x" }, { a: MASK }],
    ["in depth", { properties: { a: { properties: { b: SECRET } } } }, { a: { b: 1, c: 2 } }, { a: { b: MASK, c: 2 } }],
    ["in a list", { properties: { a: { items: SECRET } } }, { a: ["x", "y"] }, { a: [MASK, MASK] }],
    ["at a place", { properties: { a: { prefixItems: [{}, SECRET] } } }, { a: ["x", "y"] }, { a: ["x", MASK] }],
    ["by any name", { properties: { a: {} }, additionalProperties: SECRET }, { a: "x", b: "y" }, { a: "x", b: MASK }],
    ["in one of several", { oneOf: [{}, { properties: { a: SECRET } }] }, { a: "x" }, { a: MASK }],
    ["elsewhere", { properties: { a: { $ref: "#/$defs/s" } }, $defs: { s: SECRET } }, { a: "x" }, { a: MASK }],
  ])("%s is masked", (_, schema, value, shown) => {
    expect(withoutDeclared(value, schema)).toEqual(shown);
  });

  test("is nothing for a schema that declares none, and the value stays the same object", () => {
    const value = { a: { b: [1] }, constructor: "x" };
    expect(withoutDeclared(value, { properties: { a: { type: "object" } } })).toBe(value);
    expect(withoutDeclared(value, undefined)).toBe(value);
    expect(withoutCredentials(value)).toBe(value);
  });

  test("is found in a schema that refers to itself, again and again", () => {
    const both = [{ $ref: "#/$defs/t" }, { $ref: "#" }, { $ref: "#/nowhere" }];
    const schema = { $ref: "#/$defs/t", $defs: { t: { allOf: both, properties: { a: { allOf: both }, s: SECRET } } } };
    expect(withoutDeclared({ a: { a: { s: "x" } } }, schema)).toEqual({ a: { a: { s: MASK } } });
  });
});

test("a member that names a credential is masked whatever it looks like", () => {
  const value = { ai: { credentialRef: "tuesday", model: "m" }, list: [{ credentialsRef: "x" }] };
  expect(withoutCredentials(value)).toEqual({
    ai: { credentialRef: MASK, model: "m" },
    list: [{ credentialsRef: MASK }],
  });
});
