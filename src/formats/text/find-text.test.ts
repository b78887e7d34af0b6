import { expect, test } from "vitest";
import { pick, randomFrom } from "../../testing/random-workflow.ts";
import { findText, holdsText, unfenced } from "./find-text.ts";

test("a text is found where indexOf finds it, whatever it is made of", () => {
  const random = randomFrom(7);
  const word = (length: number, letters: string) => Array.from({ length }, () => pick(random, [...letters])).join("");
  for (let i = 0; i < 300; i++) {
    const letters = pick(random, ["a", "ab", "aab", "abcdefgh", "a\u4e00"]);
    const text = word(2000, letters);
    const start = Math.floor(random() * 1500);
    const part = text.slice(start, start + 251 + Math.floor(random() * 200));
    const from = Math.floor(random() * 400);
    for (const wanted of [part, `${part}a`, word(260, letters), part.slice(0, 20), ""]) {
      expect(findText(text, wanted, from)).toBe(text.indexOf(wanted, from));
    }
  }
  expect(findText("short", "x".repeat(300))).toBe(-1);
});

test("periodic texts of a million characters take a moment", () => {
  const half = "a".repeat(250_000);
  const before = process.cpuUsage();
  expect(holdsText("a".repeat(1_000_000), `${half}b${half}`)).toBe(false);
  const { user } = process.cpuUsage(before);
  expect(user / 1000).toBeLessThan(1000);
});

test.each([
  ["```\na\n```", "a"],
  ["  ```json \n{\n}\n```\n", "{\n}"],
  ["```c-like\na\n```\nb\n```", "a\n```\nb"],
  ["```\n```", ""],
  ["a", undefined],
  ["```a```", undefined],
  ["```\na", undefined],
  ["see ```\na\n```", undefined],
  ["```two words\na\n```", undefined],
])("what is fenced in %j is %j", (text, inside) => {
  expect(unfenced(text)).toBe(inside);
});

test("a fence that is opened and never closed is no long search", () => {
  expect(unfenced(`\`\`\`${"\n".repeat(1 << 22)}x`)).toBeUndefined();
  expect(unfenced(`\`\`\`${" ".repeat(1 << 22)}x\n\`\`\``)).toBeUndefined();
});
