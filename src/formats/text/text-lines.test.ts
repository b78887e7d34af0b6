import { describe, expect, test } from "vitest";
import { below, several } from "../../testing/random-json.ts";
import { inPieces } from "../../testing/random-tapes.ts";
import { pick, randomFrom } from "../../testing/random-workflow.ts";
import { bytesOf } from "../../testing/tape-files.ts";
import { TextLines } from "./text-lines.ts";

function linesOf(...pieces: readonly Uint8Array[]): string[] {
  const lines = new TextLines();
  return [...pieces.flatMap((piece) => lines.take(piece)), ...lines.end()];
}

describe("a text", () => {
  test.each([
    ["", []],
    ["\n", [""]],
    ["\n\n", ["", ""]],
    ["a", ["a"]],
    ["a\n", ["a"]],
    ["a\nb", ["a", "b"]],
    ["a\r\nb\r\n", ["a", "b"]],
    ["\r\n", [""]],
    ["a\r\r\n", ["a\r"]],
    ["a\rb\n", ["a\rb"]],
    ["a\r", ["a\r"]],
    ["\r", ["\r"]],
    ["a\u2028b\u2029c\u0085d\u000be\u000cf\n", ["a\u2028b\u2029c\u0085d\u000be\u000cf"]],
    ["\ufeffa\n\ufeff\n", ["\ufeffa", "\ufeff"]],
  ])("is cut at line feeds only: %j", (text, lines) => {
    expect(linesOf(bytesOf(text))).toEqual(lines);
  });

  test("has the same lines in whatever pieces it arrives", () => {
    const random = randomFrom(8);
    const characters = ["\n", "\r", "\r\n", "a", "é", "№", "😀", "\ufeff", "\u2028", "\u0000"];
    for (let i = 0; i < 500; i++) {
      const text = several(random, 30, () => pick(random, characters)).join("");
      const pieces = inPieces(bytesOf(text), random, 1 + below(random, 6));
      const whole = text.split("\n");
      const last = whole.pop() as string;
      const lines = whole.map((line) => line.replace(/\r$/, ""));
      expect(linesOf(...pieces), JSON.stringify(text)).toEqual(last === "" ? lines : [...lines, last]);
    }
  });

  test("may arrive one byte at a time, with empty pieces in between", () => {
    const bytes = bytesOf("\ufeffé\r\n😀\n");
    const pieces = [...bytes].flatMap((byte) => [new Uint8Array(), Uint8Array.of(byte)]);
    expect(linesOf(...pieces)).toEqual(["\ufeffé", "😀"]);
  });
});

describe("bytes that are not UTF-8", () => {
  test.each([
    ["a lone continuation", [0x80]],
    ["a byte that never occurs", [0xff]],
    ["a character that is cut off", [0xe2, 0x82, 0x0a]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["more bytes than needed", [0xc0, 0x80]],
    ["more than U+10FFFF", [0xf4, 0x90, 0x80, 0x80]],
  ])("are refused: %s", (_, bytes) => {
    const whole = Uint8Array.of(0x61, ...bytes, 0x0a);
    expect(() => linesOf(whole)).toThrow(TypeError);
    expect(() => linesOf(...[...whole].map((byte) => Uint8Array.of(byte)))).toThrow(TypeError);
  });

  test("are refused when the file ends inside a character", () => {
    expect(() => linesOf(Uint8Array.of(0x61, 0xe2, 0x82))).toThrow(TypeError);
    expect(() => linesOf(Uint8Array.of(0x61, 0xe2), Uint8Array.of(0x82))).toThrow(TypeError);
  });
});

describe("a file without an end of line", () => {
  test("is put together once, in however many pieces it arrives", () => {
    const lines = new TextLines();
    for (let i = 0; i < 300_000; i++) lines.take(Uint8Array.of(0x61));
    expect(lines.end()).toEqual(["a".repeat(300_000)]);
  });
});
