import { expect, test } from "vitest";
import { compileExpression, KEPT_CHARACTERS_MAX, keptExpressionCharacters } from "./expression.ts";

test("expressions that are kept compiled never have more characters together than the limit", () => {
  const long = "x".repeat(20_000);
  let most = 0;
  for (let i = 0; i < 40; i++) {
    expect(compileExpression(`"${long}" + "${i}"`)({})).toBe(long + i);
    const kept = keptExpressionCharacters();
    expect(kept).toBeLessThanOrEqual(KEPT_CHARACTERS_MAX);
    most = Math.max(most, kept);
  }
  expect(most).toBeGreaterThan(KEPT_CHARACTERS_MAX / 2);
});

test("an expression that was dropped and is compiled again comes to the same", () => {
  const first = compileExpression("a + 1.0");
  for (let i = 0; i < 40; i++) compileExpression(`"${"y".repeat(20_000)}" + "${i}"`);
  const again = compileExpression("a + 1.0");
  expect(again).not.toBe(first);
  expect(again({ a: 1 })).toEqual(first({ a: 1 }));
});
