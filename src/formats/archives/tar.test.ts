import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inPieces } from "../../testing/random-tapes.ts";
import { randomFrom } from "../../testing/random-workflow.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { BLOCK_BYTES, ENTRY_BYTES_MAX, paddingOf, readTarHeader, TarReader, tarEnd, tarHeader } from "./tar.ts";

const utf8 = new TextEncoder();

function archive(files: Readonly<Record<string, string>>): Uint8Array {
  const blocks = Object.entries(files).flatMap(([name, content]) => {
    const bytes = utf8.encode(content);
    const header = tarHeader({ name, size: bytes.length });
    if (header === undefined) throw new Error(`no header for ${name}`);
    return [header, bytes, new Uint8Array(paddingOf(bytes.length))];
  });
  return Buffer.concat([...blocks, tarEnd()]);
}

async function unpacked(bytes: Iterable<Uint8Array>): Promise<Record<string, string>> {
  const reader = new TarReader(bytes, readTarHeader);
  const files: Record<string, string> = {};
  for (let entry = await reader.next(); entry; entry = await reader.next()) {
    const pieces: Uint8Array[] = [];
    for await (const piece of reader.content(entry)) pieces.push(piece);
    files[entry.name] = Buffer.concat(pieces).toString();
  }
  return files;
}

/** Long, but still in two parts that fit. */
const LONG = `${"ordner/".repeat(20)}${"ä".repeat(50)}`;
const FILES = { a: "", "b/c": "x", "Gärten 🌱": "y".repeat(BLOCK_BYTES), [LONG]: "z".repeat(BLOCK_BYTES + 1) };

describe("an archive", () => {
  test("gives back the files that went in, however it arrives", async () => {
    const bytes = archive(FILES);
    expect(bytes.length % BLOCK_BYTES).toBe(0);
    expect(await unpacked([bytes])).toEqual(FILES);
    expect(await unpacked(inPieces(bytes, randomFrom(3), 700))).toEqual(FILES);
  });

  test("can be read by the program that everybody has", () => {
    const folder = tempDir();
    writeFileSync(join(folder, "x.tar"), archive(FILES));
    expect(execFileSync("tar", ["-xOf", join(folder, "x.tar"), LONG]).toString()).toBe(FILES[LONG]);
  });

  test("can be one that another program wrote", async () => {
    const folder = tempDir();
    mkdirSync(join(folder, "b"));
    writeFileSync(join(folder, "b", "c"), "content");
    const bytes = execFileSync("tar", ["--format=ustar", "-C", folder, "-cf", "-", "b/c"]);
    expect(await unpacked([bytes])).toEqual({ "b/c": "content" });
  });

  test("takes no name that does not fit, and no file that is too large", () => {
    expect(tarHeader({ name: "x".repeat(101), size: 0 })).toBeUndefined();
    expect(tarHeader({ name: `/${"x".repeat(100)}`, size: 0 })).toBeUndefined();
    expect(tarHeader({ name: `${"x".repeat(156)}/y`, size: 0 })).toBeUndefined();
    expect(tarHeader({ name: "x", size: ENTRY_BYTES_MAX })).toBeDefined();
    expect(tarHeader({ name: "x", size: ENTRY_BYTES_MAX + 1 })).toBeUndefined();
  });

  test("is refused wherever it is cut off", async () => {
    const bytes = archive({ a: "x" });
    for (const length of [0, 1, BLOCK_BYTES, BLOCK_BYTES + 1, 2 * BLOCK_BYTES, bytes.length - 1]) {
      await expect(unpacked([bytes.subarray(0, length)])).rejects.toThrow("it ends too early");
    }
  });

  test("is refused when something follows its end", async () => {
    expect(await unpacked([archive({ a: "x" }), new Uint8Array(9 * BLOCK_BYTES)])).toEqual({ a: "x" });
    await expect(unpacked([archive({ a: "x" }), archive({ b: "x" })])).rejects.toThrow("something follows its end");
    const half = archive({}).fill(1, BLOCK_BYTES);
    await expect(unpacked([half])).rejects.toThrow("something follows its end");
  });

  test("is refused when a bit of a header has changed", async () => {
    const bytes = archive({ a: "x" });
    for (let at = 0; at < BLOCK_BYTES; at += 7) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 4;
      await expect(unpacked([damaged])).rejects.toThrow();
    }
  });

  test.each([
    ["a link", "2", "is not a plain file"],
    ["a folder", "5", "is not a plain file"],
    ["an extended header", "x", "is not a plain file"],
  ])("is refused when it holds %s", async (_, type, problem) => {
    const bytes = changed(archive({ a: "x" }), 156, type);
    await expect(unpacked([bytes])).rejects.toThrow(problem);
  });

  test.each([
    ["another magic", 257, "gnutar\0\0", "of another kind than ustar"],
    ["a size in another notation", 124, "\x80\0\0\0", "not readable"],
    ["a size without digits", 124, "            ", "not readable"],
    ["a name that is not UTF-8", 0, "\xff", "not UTF-8"],
  ])("is refused when it has %s", async (_, at, value, problem) => {
    await expect(unpacked([changed(archive({ a: "x" }), at, value)])).rejects.toThrow(problem);
  });

  test("is refused when a file is filled up with something else than zeros", async () => {
    const bytes = archive({ a: "x" });
    bytes[BLOCK_BYTES + 1] = 1;
    await expect(unpacked([bytes])).rejects.toThrow("not filled up with zeros");
  });
});

/** Changes the first header and puts its sum right again. */
function changed(bytes: Uint8Array, at: number, value: string): Uint8Array {
  const result = Uint8Array.from(bytes);
  result.set(Buffer.from(value, "latin1"), at);
  result.fill(0x20, 148, 156);
  const sum = result.subarray(0, BLOCK_BYTES).reduce((total, byte) => total + byte, 0);
  result.set(utf8.encode(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
  return result;
}
