import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../../testing/temp-dir.ts";
import { watchedBytes } from "./tape-files.ts";

async function shownFor(name: string, size: number) {
  const path = join(tempDir(), name);
  writeFileSync(path, new Uint8Array(size));
  const shown: string[] = [];
  let read = 0;
  for await (const piece of watchedBytes(path, { progress: (text) => void shown.push(text) })) read += piece.length;
  return { shown, read };
}

describe("reading a long file", () => {
  test("shows a bar that grows to the end, and each state of it once", async () => {
    const { shown, read } = await shownFor("run.tape", 5_000_000);
    expect(read).toBe(5_000_000);
    expect(shown.length).toBeGreaterThan(2);
    expect(new Set(shown).size).toBe(shown.length);
    expect(shown.at(-1)).toMatch(/run\.tape \[#{24}\] 100 %$/);
  });

  test("leaves room for the bar when the name is long", async () => {
    const { shown } = await shownFor(`${"x".repeat(200)}.tape`, 2_500_000);
    for (const text of shown) expect(text.length).toBeLessThan(78);
    expect(shown.at(-1)).toMatch(/^…x+\.tape \[/);
  });

  test("shows nothing for a short one", async () => {
    expect((await shownFor("run.tape", 1000)).shown).toEqual([]);
  });
});
