import { expect, test } from "vitest";
import { someLongWord } from "./long-words.ts";

function longWords(text: string): string[] {
  const found: string[] = [];
  someLongWord(text, (word) => {
    found.push(word);
    return false;
  });
  return found;
}

test("every long word of a text is looked at once, wherever it begins", () => {
  const words = ["w".repeat(15), "run-01k4abcdefgh", `a=b:${"c".repeat(100)}/d%20@e`];
  for (const word of words) {
    for (let before = 0; before < 50; before++) {
      expect(longWords(`${" ".repeat(before)}${word} b`)).toEqual([word]);
      expect(longWords(`${"é ".repeat(before)}${word}"${word}`)).toEqual([word, word]);
    }
  }
});

test("shorter ones are not", () => {
  for (let before = 0; before < 20; before++) {
    expect(longWords(`${" ".repeat(before)}${"w".repeat(14)} and ${"w".repeat(14)}é`)).toEqual([]);
  }
});

test("it stops at the first that is wanted", () => {
  expect(someLongWord(`${"a".repeat(20)} ${"b".repeat(20)}`, (word) => word.startsWith("b"))).toBe(true);
  expect(someLongWord("", () => true)).toBe(false);
});
