import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../../testing/temp-dir.ts";
import { appendText } from "./append-text.ts";

test("a text is added to the end, and what was there stays", async () => {
  const path = join(tempDir(), "f");
  writeFileSync(path, "a\n");
  await appendText(path, "é\n", 2);
  expect(readFileSync(path, "utf8")).toBe("a\né\n");
});

test("a file that somebody else has changed meanwhile is left alone", async () => {
  const path = join(tempDir(), "f");
  writeFileSync(path, "a\nb\n");
  await expect(appendText(path, "c\n", 2)).rejects.toMatchObject({ code: "write_failed" });
  expect(readFileSync(path, "utf8")).toBe("a\nb\n");
});

test("a file that is gone is not made again", async () => {
  const path = join(tempDir(), "f");
  await expect(appendText(path, "c\n", 2)).rejects.toMatchObject({ code: "write_failed" });
  expect(existsSync(path)).toBe(false);
});

test.skipIf(process.platform !== "linux")("what cannot be written is an error with the name of the file", async () => {
  await expect(appendText("/dev/full", "c\n", 0)).rejects.toMatchObject({
    code: "write_failed",
    message: expect.stringContaining("write /dev/full: "),
  });
});
