import { describe, expect, test } from "vitest";
import { below, several } from "../../testing/random-json.ts";
import { inPieces } from "../../testing/random-tapes.ts";
import { pick, randomFrom } from "../../testing/random-workflow.ts";
import { bytesOf, fileOf } from "../../testing/tape-files.ts";
import { type Bytes, type LineReader, loadLines, loadWindows, TextLines, trimSpace } from "./lines.ts";

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

class Recorder implements LineReader {
  readonly lines: string[] = [];
  ended = false;
  readonly #refused: string | undefined;

  constructor(refused?: string) {
    this.#refused = refused;
  }

  line(text: string): void {
    if (text === this.#refused) throw new Error(`refused ${text}`);
    this.lines.push(text);
  }

  end(): void {
    this.ended = true;
  }
}

const load = (bytes: Bytes, reader: LineReader) =>
  loadLines(bytes, reader, (reason) => new Error(`unreadable: ${reason}`));

const bad = Uint8Array.of(0xff);
const text = (line: string) => fileOf(line)[0] as Uint8Array;

describe("a file that is fed to a reader", () => {
  test("may come all at once or over time", async () => {
    for (const bytes of [fileOf("a\nb\n"), overTime(text("a\n"), text("b\n"))]) {
      const reader = new Recorder();
      await load(bytes, reader);
      expect(reader).toMatchObject({ lines: ["a", "b"], ended: true });
    }
  });

  test("is not looked at any further after the line that is refused", async () => {
    const reader = new Recorder("b");
    await expect(load(fileOf("a\nb\nc\n"), reader)).rejects.toThrow("refused b");
    expect(reader).toMatchObject({ lines: ["a"], ended: false });
  });

  test("is unreadable when a line comes to more than a string can hold", async () => {
    const reader: LineReader = { line: () => void "x".repeat(2 ** 30), end: () => {} };
    const reason = "unreadable: Invalid string length";
    await expect(load(fileOf("a\n"), reader)).rejects.toThrow(reason);
    const windows = { lines: () => reader.line(""), end: () => {} };
    await expect(loadWindows(fileOf("a\n"), windows, (why) => new Error(`unreadable: ${why}`))).rejects.toThrow(reason);
  });

  test("is unreadable when it is not UTF-8, also when a line before was refused", async () => {
    const reader = new Recorder("b");
    const reason = "unreadable: stream did not contain valid UTF-8";
    await expect(load([text("a\nb\n"), text("c\n"), bad], reader)).rejects.toThrow(reason);
    await expect(load([text("a\nb\n"), Uint8Array.of(0xe2, 0x82)], new Recorder("b"))).rejects.toThrow(reason);
    expect(reader.ended).toBe(false);
  });

  test("is unreadable when it fails to arrive, with the reason, also when a line before was refused", async () => {
    for (const reader of [new Recorder(), new Recorder("a")]) {
      await expect(load(failing(text("a\n")), reader)).rejects.toThrow("unreadable: the disk is gone");
      expect(reader.ended).toBe(false);
    }
  });

  test("is let go when the rest of it is of no use", async () => {
    let letGo = false;
    async function* watched() {
      try {
        yield bad;
        yield text("more");
      } finally {
        letGo = true;
      }
    }
    await expect(load(watched(), new Recorder())).rejects.toThrow("unreadable");
    expect(letGo).toBe(true);
  });
});

async function* overTime(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    await new Promise((resolve) => setImmediate(resolve));
    yield piece;
  }
}

async function* failing(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece;
  throw new Error("the disk is gone");
}
