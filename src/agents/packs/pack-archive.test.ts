import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { paddingOf, tarEnd, tarHeader } from "../../formats/archives/tar.ts";
import { packFiles, writePack } from "../../testing/packs.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { packArchive, readPackArchive } from "./pack-archive.ts";
import { PACK_LIMITS } from "./pack-files.ts";
import { readPack } from "./read-pack.ts";
import { packHash } from "./signature.ts";

const files = packFiles();
const tar = (folder: string, ...args: string[]) => new Uint8Array(execFileSync("tar", ["-C", folder, ...args]));

/** Two entries of one name have no place in a map. */
function archive(entries: readonly (readonly [string, string])[], type = "0"): Uint8Array {
  const blocks = entries.flatMap(([name, text]) => {
    const content = Buffer.from(text);
    const header = tarHeader({ name, size: content.length });
    if (header === undefined) throw new Error(`no header for ${name}`);
    return [withType(header, type), content, new Uint8Array(paddingOf(content.length))];
  });
  return Buffer.concat([...blocks, tarEnd()]);
}

function withType(header: Uint8Array, type: string): Uint8Array {
  header.set(Buffer.from(type), 156);
  header.fill(0x20, 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.set(Buffer.from(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
  return header;
}

const manifest = ["pack.json", "{}"] as const;

describe("a pack that was archived", () => {
  test("has the files that went in, compressed or not", async () => {
    expect(await readPackArchive(packArchive(files))).toEqual(files);
    expect(await readPackArchive(gzipSync(packArchive(files)))).toEqual(files);
  });

  test.each([
    ["by GNU tar as it is used", ["-cf", "-", "."]],
    ["by GNU tar, compressed", ["-czf", "-", "."]],
    ["as ustar", ["--format=ustar", "-cf", "-", "."]],
    ["with extended headers", ["--format=pax", "-cf", "-", "."]],
    ["file by file", ["-cf", "-", "pack.json", "prompts", "schemas", "evals"]],
  ])("%s can be read", async (_, args) => {
    const folder = writePack(tempDir(), files);
    expect(await readPackArchive(tar(folder, ...args))).toEqual(files);
  });

  test("within a folder is the pack in it", async () => {
    const folder = tempDir();
    writePack(join(folder, "package"), files);
    const read = await readPackArchive(tar(folder, "-czf", "-", "package"));
    expect(packHash(read)).toBe(packHash(files));
  });

  test("is the same pack as its folder, whatever an editor left there", async () => {
    const folder = writePack(tempDir(), files);
    writeFileSync(join(folder, ".DS_Store"), "x");
    mkdirSync(join(folder, ".git"));
    writeFileSync(join(folder, ".git", "config"), "x");
    const path = join(tempDir(), "pack.tgz");
    writeFileSync(path, tar(folder, "-czf", "-", "."));
    expect(packHash(await readPack(path))).toBe(packHash(await readPack(folder)));
    expect(packHash(await readPack(folder))).toBe(packHash(files));
  });
});

describe("an archive is refused", () => {
  test.each([
    ["a path that goes up", [manifest, ["a/../../etc/passwd", "x"]], "leads out of it"],
    ["an absolute path", [manifest, ["/etc/passwd", "x"]], "leads out of it"],
    ["a path with a backslash", [manifest, ["a\\b", "x"]], "cannot be used"],
    ["a path with a control character", [manifest, ["a\u001b[2J", "x"]], "cannot be used"],
    ["one file twice", [manifest, ["a", "x"], ["./a", "y"]], 'has "a" twice'],
    ["two manifests", [manifest, ["./pack.json", "[]"]], 'has "pack.json" twice'],
    ["no manifest", [["readme", "x"]], "has no pack.json"],
    [
      "two folders with one",
      [
        ["a/pack.json", "{}"],
        ["b/pack.json", "{}"],
      ],
      "has no pack.json",
    ],
    ["nothing", [], "has no pack.json"],
  ] as const)("for %s", async (_, entries, problem) => {
    await expect(readPackArchive(archive(entries))).rejects.toThrow(problem);
  });

  test.each([
    ["a symbolic link", "2"],
    ["a hard link", "1"],
    ["a device", "3"],
    ["a pipe", "6"],
  ])("for %s", async (_, type) => {
    await expect(readPackArchive(archive([manifest], type))).rejects.toThrow('"pack.json" is not a plain file');
  });

  test("for a name in a notation that programs read in different ways", async () => {
    await expect(readPackArchive(archive([["x", "y"]], "L"))).rejects.toThrow("longer than 100 bytes");
    const record = "17 path=pack.json\n";
    await expect(readPackArchive(archive([["x", record]], "x"))).rejects.toThrow("a long path");
    await expect(readPackArchive(archive([["x", "30 mtime=1.5\n17 path=pack.json\n"]], "g"))).rejects.toThrow(
      "a long path",
    );
  });

  test.each([
    ["no archive", Buffer.from("hello")],
    ["empty", Buffer.alloc(0)],
    ["cut off", packArchive(files).subarray(0, 700)],
    ["compressed and cut off", gzipSync(packArchive(files)).subarray(0, 200)],
    ["compressed nonsense", Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.from("hello")])],
  ])("when it is %s", async (_, bytes) => {
    await expect(readPackArchive(bytes)).rejects.toThrow(/is (not an archive|compressed)/);
  });

  test("when it would become large", async () => {
    const bomb = gzipSync(Buffer.alloc(PACK_LIMITS.maxBytes + 4_000_000));
    expect(bomb.length).toBeLessThan(100_000);
    await expect(readPackArchive(bomb)).rejects.toThrow("has more than 33554432 bytes in its files");
    const header = tarHeader({ name: "big", size: PACK_LIMITS.maxBytes + 1 }) as Uint8Array;
    await expect(readPackArchive(Buffer.concat([header, tarEnd()]))).rejects.toThrow("has more than 33554432 bytes");
  });

  test("when it has too many files", async () => {
    const many = Array.from({ length: PACK_LIMITS.maxFiles + 1 }, (_, i) => [`f${i}`, ""] as const);
    await expect(readPackArchive(archive(many))).rejects.toThrow("has more than 1000 files");
    const folders = Array.from({ length: 4 * PACK_LIMITS.maxFiles + 1 }, (_, i) => [`d${i}/`, ""] as const);
    await expect(readPackArchive(archive(folders, "5"))).rejects.toThrow("has more than 4000 entries");
  });
});

describe("a folder", () => {
  test("is refused for a link, wherever it leads", async () => {
    const folder = writePack(tempDir(), files);
    symlinkSync(join(folder, "pack.json"), join(folder, "prompts", "link.md"));
    await expect(readPack(folder)).rejects.toThrow('has "prompts/link.md", which is not a plain file');
  });

  test("is refused for a pipe, and nobody waits for what comes out of it", async () => {
    const folder = writePack(tempDir(), files);
    execFileSync("mkfifo", [join(folder, "prompts", "pipe.md")]);
    await expect(readPack(folder)).rejects.toThrow('has "prompts/pipe.md", which is not a plain file');
  });

  test("that is not there, or has no manifest, is told apart", async () => {
    await expect(readPack(join(tempDir(), "none"))).rejects.toThrow("cannot be read: ENOENT");
    await expect(readPack(tempDir())).rejects.toThrow("has no pack.json");
  });

  test("makes an archive that the program everybody has can read", () => {
    const path = join(tempDir(), "pack.tar");
    writeFileSync(path, packArchive(files));
    const prompt = execFileSync("tar", ["-xOf", path, "prompts/refunds.md"]);
    expect(prompt).toEqual(files.get("prompts/refunds.md"));
    expect(readFileSync(path).length % 512).toBe(0);
  });
});
