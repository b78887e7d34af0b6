import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../testing/temp-dir.ts";
import { replaceFile } from "./files.ts";

test("a file is replaced as a whole, and nothing else is left", async () => {
  const folder = tempDir();
  writeFileSync(join(folder, "file"), "old and long");
  await replaceFile(join(folder, "file"), "new");
  expect(readFileSync(join(folder, "file"), "utf8")).toBe("new");
  expect(readdirSync(folder)).toEqual(["file"]);
});

test("what cannot be put in its place is not left beside it", async () => {
  const folder = tempDir();
  mkdirSync(join(folder, "file", "full"), { recursive: true });
  await expect(replaceFile(join(folder, "file"), "new")).rejects.toThrow();
  expect(readdirSync(folder)).toEqual(["file"]);
});
