import { describe, expect, test } from "vitest";
import { searchWords } from "./search-words.ts";

describe("the words of a text", () => {
  test.each<[string, string, readonly string[]]>([
    ["are letters and digits in lower case", "Don't PANIC: 42!", ["don", "t", "panic", "42"]],
    ["have no marks", "Crème brûlée, Ёлка, İzmir", ["creme", "brulee", "елка", "izmir"]],
    ["come once", "the cat and the dog", ["the", "cat", "and", "dog"]],
    ["are single signs where there are no spaces", "答案v2カナ한글", ["答", "案", "v2", "カ", "ナ", "한", "글"]],
    ["are the same however a sign is written", "ﬁ ＡＢＣ ①", ["fi", "abc", "1"]],
    ["are not in what is only signs", "🎉 -- '*' \"", []],
    ["are not in a sign that stands for many words or a long one", "by ﷺ, 5㌔", ["by", "5"]],
    ["hold no whitespace of any sort", "a\u2003b\u200bc\u0000d", ["a", "b", "c", "d"]],
  ])("%s", (_, text, words) => {
    expect(searchWords(text)).toEqual(words);
  });

  test("are those of all texts that there are", () => {
    expect(searchWords("one", undefined, "two")).toEqual(["one", "two"]);
    expect(searchWords()).toEqual([]);
  });

  test("of a question are its own words: asking with them again is the same question", () => {
    const words = searchWords("Zürich, 大学 “It's”");
    expect(searchWords(...words)).toEqual(words);
  });

  test("are cut where they are long, never within a character", () => {
    const [word = ""] = searchWords("𝒳".repeat(10) + "𐐨".repeat(100));
    expect([...word]).toHaveLength(64);
    expect(word.isWellFormed?.() ?? true).toBe(true);
  });

  test("are so many and no more", () => {
    const many = Array.from({ length: 30_000 }, (_, n) => `w${n}`).join(" ");
    expect(searchWords(many)).toHaveLength(10_000);
    const large = Array.from({ length: 9000 }, (_, n) => `${"x".repeat(58)}${n}`).join(" ");
    expect(searchWords(large).join(" ").length).toBeLessThanOrEqual(200_000);
  });
});
