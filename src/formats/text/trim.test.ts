import { expect, test } from "vitest";
import { trimSpace } from "./trim.ts";

/** Unicode White_Space, written out as ranges of code points. */
const WHITE_SPACE = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0x85, 0x85],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
] as const;

test("exactly the white space of Unicode is taken from both ends, and nothing from inside", () => {
  const wrong: string[] = [];
  for (let code = 0; code <= 0xffff; code++) {
    const one = String.fromCharCode(code);
    const isSpace = WHITE_SPACE.some(([first, last]) => code >= first && code <= last);
    const around = trimSpace(`${one}a${one}b${one}`);
    if (around !== (isSpace ? `a${one}b` : `${one}a${one}b${one}`)) wrong.push(code.toString(16));
    if (trimSpace(one) !== (isSpace ? "" : one)) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

test("spaces of different kinds go together", () => {
  expect(trimSpace("\u0085 \t\u3000{}\u2028\r\u00a0")).toBe("{}");
  expect(trimSpace("\u0085 \t\u3000")).toBe("");
  expect(trimSpace("")).toBe("");
  expect(trimSpace(" \ufeff ")).toBe("\ufeff");
});

test("many spaces in the middle or at the end of a long line cost no more than other characters", () => {
  const spaces = "\u00a0".repeat(3_000_000);
  expect(trimSpace(`a${spaces}b`)).toBe(`a${spaces}b`);
  expect(trimSpace(`a${spaces}é`)).toBe(`a${spaces}é`);
  expect(trimSpace(`${spaces}a${spaces}`)).toBe("a");
});
