import { describe, expect, test } from "vitest";
import { AppError, ERRORS, type ErrorCode } from "../../protocol/errors.ts";
import { EXIT, EXIT_CODES, exitCodeOf } from "./exit-codes.ts";

describe("the exit code of an error", () => {
  test.each([
    ["unauthenticated", 3],
    ["key_expired", 3],
    ["forbidden", 3],
    ["not_found", 2],
    ["validation_error", 2],
    ["run_terminal", 2],
    ["database_in_use", 2],
    ["schema_too_new", 2],
    ["unusable_input", 2],
    ["unreachable", 4],
    ["unavailable", 4],
    ["internal_error", 4],
    ["rate_limited", 4],
  ] as const)("%s is %i", (code, exit) => {
    expect(exitCodeOf(new AppError(code))).toBe(exit);
  });

  test("is never that of a success or of a negative verdict", () => {
    for (const code of Object.keys(ERRORS) as ErrorCode[]) expect(exitCodeOf(new AppError(code))).toBeGreaterThan(1);
  });

  test("of a bug is that of no verdict", () => {
    expect(exitCodeOf(new TypeError("x is undefined"))).toBe(5);
    expect(exitCodeOf("a text")).toBe(5);
  });
});

test("the table and the names agree", () => {
  expect(Object.entries(EXIT)).toEqual(Object.entries(EXIT_CODES).map(([name, { code }]) => [name, code]));
});
