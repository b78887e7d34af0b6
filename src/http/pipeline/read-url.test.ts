import { describe, expect, test } from "vitest";
import { AppError } from "../../protocol/errors.ts";
import { Type } from "../../protocol/schema.ts";
import { queryReader } from "./read-url.ts";

const properties = {
  limit: Type.Optional(Type.Integer({ minimum: -5, maximum: 100 })),
  status: Type.Optional(Type.Enum(["on", "off"])),
  cursor: Type.Optional(Type.String({ minLength: 1 })),
};
const closed = queryReader(Type.Object(properties, { additionalProperties: false }));
const open = queryReader(Type.Object(properties, { additionalProperties: true }));

describe("a query", () => {
  test.each([
    ["/x", {}],
    ["/x?", {}],
    ["/x?&", {}],
    ["/x?limit=5", { limit: 5 }],
    ["/x?limit=0&status=on", { limit: 0, status: "on" }],
    ["/x?limit=-5", { limit: -5 }],
    ["/x?cursor=a%20b%2Bc+d", { cursor: "a b+c d" }],
    ["/x?cursor=a=b", { cursor: "a=b" }],
    ["/x?%6Cimit=1", { limit: 1 }],
  ])("%s is read as %j", (url, value) => {
    expect(closed(url)).toEqual(value);
  });

  test.each([
    "limit=1e1",
    "limit=%205",
    "limit=+5",
    "limit=5.0",
    "limit=05",
    "limit=0x10",
    "limit=-0",
    "limit=",
    "limit",
    "limit=101",
    "limit=9007199254740993",
    "limit=5&limit=5",
    "limit[]=5",
    "status=On",
    "cursor=",
    "cursor=%E0%A4%A",
    "cursor=%",
  ])("?%s is refused", (query) => {
    expect(() => closed(`/x?${query}`)).toThrow(AppError);
  });

  test("with a parameter nobody knows is refused, naming those that are known", () => {
    expect(() => closed("/x?limits=5")).toThrow(/"limits".*limit, status, cursor/);
    expect(() => closed("/x?__proto__=5")).toThrow(AppError);
    expect(() => closed("/x?constructor=5")).toThrow(AppError);
  });

  test("with a parameter nobody knows is read without it where the protocol says so", () => {
    expect(open("/x?what=1&what=2&limit=5&__proto__=6")).toEqual({ limit: 5 });
  });

  test("with very many parameters is refused", () => {
    expect(() => open(`/x?${"a=1&".repeat(10_000)}`)).toThrow(AppError);
  });
});
