import { describe, expect, test } from "vitest";
import { fileOf } from "../../testing/tape-files.ts";
import { loadWindows } from "./line-window.ts";
import { type Bytes, type LineReader, loadLines } from "./load-lines.ts";

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
