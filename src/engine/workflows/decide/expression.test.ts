import { describe, expect, test } from "vitest";
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

  test("has one where many values are around it and no loop is in it", () => {
    expect(
      ask(
        "variables.list[0] == 0",
        Array.from({ length: 1_200_000 }, () => 0),
      ),
    ).toBe(true);
  });
});

describe("an expression that makes more on its way than it was given", () => {
  const shared = (times: number): string =>
    times === 0 ? "variables.list" : `[${shared(times - 1)}].map(v${times}, [${`v${times},`.repeat(7)} v${times}])`;
  const list = Array.from({ length: 5_000 }, (_, i) => i);
  const long = "a".repeat(1_000_000);
  const variables = { list, long, words: Array(3_000).fill("x".repeat(300)), search: `b${"a".repeat(500_000)}` };
  const keys = Object.fromEntries(list.map((i) => [`k${i}`, i]));

  test.each([
    ["a list that names itself again and again", shared(12)],
    ["two such lists, compared", `${shared(10)} == ${shared(10)}`],
    ["such a list in another", `${shared(10)} in [${shared(10)}]`],
    ["sums of lists for each item", `size(variables.list.map(a, ${Array(90).fill("variables.list").join("+")})) > 0`],
    ["texts compared for each item", "variables.list.all(a, variables.long + 'a' == variables.long + 'a')"],
    ["texts copied for each item", "size(variables.list.map(a, variables.long.lowerAscii())) > 0"],
    ["bytes copied for each item", "size(variables.list.map(a, bytes(variables.long))) > 0"],
    ["characters counted for each item", "variables.list.all(a, size(variables.long) > 0)"],
    ["texts split for each item", "size(variables.list.map(a, variables.long.split(''))) > 0"],
    ["texts joined for each item", "size(variables.list.map(a, variables.words.join(','))) > 0"],
    ["a search that compares each character with each", "variables.long.contains(variables.search)"],
    ["a duration of a million digits", "duration(variables.long) == duration('1s')"],
    ["names of members for each item", "variables.list.all(a, variables.keys.exists(k, true))"],
    ["errors of each item, for each item", "variables.list.all(a, variables.list.all(b, b.none))"],
    [
      "a time zone for each item",
      "variables.list.all(a, timestamp('2024-01-01T00:00:00Z').getHours('Asia/Tokyo') >= 0)",
    ],
    ["what would end a loop early", "variables.list.all(a, variables.list.all(b, true)) || true"],
  ])("has no answer: %s", (_, text) => {
    expect(() => compileExpression(text)({ variables: { ...variables, keys } })).toThrow("too many items");
  });

  test.each([
    ["counts a long text", "size(variables.long) == 1000000"],
    ["searches a long text", "variables.long.contains('needle in it') == false"],
    ["joins many texts", "size(variables.words.join(',')) == 902999"],
    ["goes through the names of members", "variables.keys.all(k, k.startsWith('k'))"],
    ["compares two long lists", "variables.list == variables.list.map(a, a)"],
    [
      "reads a duration and a zone",
      "timestamp('2024-01-01T00:00:00Z').getHours('Asia/Tokyo') == 9 && duration('90s') > duration('1m')",
    ],
    ["goes on after an error", "variables.none == 1 || true"],
  ])("has one where it %s", (_, text) => {
    expect(compileExpression(text)({ variables: { ...variables, keys } })).toBe(true);
  });
});

test("expressions that share an allowance have one budget together", () => {
  const allowance = { units: 2_000_000 };
  const expression = compileExpression("variables.list.all(a, variables.list.all(b, a < 5000))");
  const context = { variables: { list: Array.from({ length: 400 }, (_, i) => i) } };
  const evaluate = () => expression(context, allowance);
  expect(evaluate()).toBe(true);
  expect(() => [evaluate(), evaluate(), evaluate()]).toThrow("too many items");
  expect(evaluate).toThrow("too many items");
  expect(expression(context)).toBe(true);
});
