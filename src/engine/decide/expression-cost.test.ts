import { describe, expect, test } from "vitest";
import { compileExpression } from "./expression.ts";

const LITERAL = `[${Array.from({ length: 20 }, (_, i) => i).join()}]`;
const nested = (depth: number): string => (depth === 0 ? "true" : `${LITERAL}.all(v${depth}, ${nested(depth - 1)})`);
const doubled = (times: number): string =>
  times === 0 ? "[1]" : `[${doubled(times - 1)}].map(v${times}, v${times} + v${times})[0]`;
const bound = (times: number): string =>
  times === 0 ? "size(v0)" : `cel.bind(v${times - 1}, v${times} + v${times}, ${bound(times - 1)})`;

describe("an expression that no value could make affordable is refused as it is read", () => {
  test.each([
    ["lists inside of lists inside of lists", nested(3)],
    ["lists that double in loop after loop", `size(${doubled(3)}) > 0`],
    ["lists that double in names", `cel.bind(v4, [1], ${bound(4)}) > 0`],
    ["a hundred sums and more", Array.from({ length: 120 }, () => "variables.a").join(" + ")],
    ["letters of a text that is put together", "size(variables.a.map(a, variables.b).join('').split('')) > 0"],
    ["a pattern on a backtracking engine", "variables.a.matches('(a+)+b')"],
    ["such a pattern behind a comment", "variables.a.matches // linear, honestly\n ('(a+)+b')"],
    ["such a pattern called as a function", "matches(variables.a, '(a+)+b')"],
  ])("%s", (_, text) => {
    expect(() => compileExpression(text)).toThrow(expect.objectContaining({ code: "validation_error" }));
  });
});

describe("an expression about more than it can go through", () => {
  const many = Array.from({ length: 20_000 }, (_, i) => i);
  const ask = (text: string, list: readonly unknown[]) => compileExpression(text)({ variables: { list } });

  test.each([
    ["each with each", "variables.list.all(a, variables.list.all(b, a <= 20000))"],
    ["each in all", "variables.list.all(a, a in variables.list)"],
    ["all with all, for each", "variables.list.all(a, variables.list == variables.list)"],
    ["all and all, for each", "size(variables.list.map(a, variables.list + variables.list)) > 0"],
  ])("has no answer: %s", (_, text) => {
    expect(ask(text, many.slice(0, 10))).toBe(true);
    expect(() => ask(text, many)).toThrow("too many items");
  });

  test("has none about the letters of a long text, each with each", () => {
    const text = "variables.list[0].split('').all(a, variables.list[0].split('').all(b, true))";
    expect(ask(text, ["abc"])).toBe(true);
    expect(() => ask(text, ["a".repeat(20_000)])).toThrow("too many items");
  });

  test("has one where each item is looked at once", () => {
    expect(ask("variables.list.filter(a, a >= 10).exists(a, a == 19999)", many)).toBe(true);
    expect(ask("variables.list[0].split(',').exists(a, a == 'x')", [`${"a,".repeat(20_000)}x`])).toBe(true);
    expect(ask("size(variables.list) == 20000 && !(20000 in variables.list)", many)).toBe(true);
  });

  test("has none where little is done with each of many items, or much with each of some", () => {
    const hundreds = many.slice(0, 1000);
    const conditions = (count: number) => Array.from({ length: count }, (_, i) => `a != ${i}.5`).join(" && ");
    expect(ask(`variables.list.all(a, ${conditions(100)})`, hundreds)).toBe(true);
    expect(() => ask(`variables.list.all(a, ${conditions(100)})`, many)).toThrow("too many items");
    const loops = (count: number) => Array.from({ length: count }, () => "variables.list.all(a, a >= 0)").join(" && ");
    expect(ask(loops(3), many)).toBe(true);
    expect(() => ask(loops(30), many)).toThrow("too many items");
    expect(() =>
      ask(
        "variables.list.all(a, a >= 0)",
        Array.from({ length: 1_200_000 }, () => 0),
      ),
    ).toThrow("too many items");
  });

  test("has one where each of many items is compared with one value, or added to", () => {
    const orders = many.map((id) => ({ id, lines: [{ sku: `s${id}`, count: 2 }] }));
    expect(ask("variables.list.filter(o, o.id == variables.list[7].id).size() == 1", orders)).toBe(true);
    expect(ask("size(variables.list.map(a, a + a)) == 20000", many)).toBe(true);
  });

  test("has none where what is compared with each item is a list of the expression's own", () => {
    expect(() => ask("[variables.list, variables.list].all(a, [a, a].all(b, b + a == a))", many)).toThrow(
      "too many items",
    );
  });

  test("has one where many values are around it and no loop is in it", () => {
    expect(
      ask(
        "variables.list[0] == 0",
        Array.from({ length: 1_200_000 }, () => 0),
      ),
    ).toBe(true);
  });
});
