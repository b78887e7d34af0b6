import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { Spool } from "./spool.ts";

const words = ["one ", "zwei\n", "três ", "😀 ", "\ufeff", "six"];

function filled(inMemory: number): Spool {
  const spool = new Spool(inMemory);
  for (const word of words) spool.add(word);
  return spool;
}

describe("a spool", () => {
  test.each([1000, 12, 3, 0])(
    "gives back what it was given, in order, when %d characters fit into memory",
    (inMemory) => {
      const spool = filled(inMemory);
      expect([...spool.texts()].join("")).toBe(words.join(""));
      expect([...spool.texts()].join("")).toBe(words.join(""));
      spool.close();
    },
  );

  test("gives back characters that lie across the pieces it reads", () => {
    const text = "é😀".repeat(400_000);
    const spool = new Spool(0);
    spool.add(`x${text}`);
    expect([...spool.texts()].join("") === `x${text}`).toBe(true);
    spool.close();
  });

  test("has no file with a name, so that nothing is left when the process is killed", () => {
    const before = readdirSync(tmpdir()).filter((name) => /^assay-.{6}$/.test(name));
    const spool = filled(0);
    expect(readdirSync(tmpdir()).filter((name) => /^assay-.{6}$/.test(name) && !before.includes(name))).toEqual([]);
    spool.close();
  });
});
