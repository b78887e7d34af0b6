import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../../testing/temp-dir.ts";
import { sidecarFiles } from "./find-files.ts";

describe("a directory", () => {
  test("stands for every sidecar below it, sorted, however deep", async () => {
    const folder = tempDir();
    mkdirSync(join(folder, "a", "deep"), { recursive: true });
    mkdirSync(join(folder, "folder.annotations.jsonl"));
    for (const name of [
      "z.tape",
      "z.tape.annotations.jsonl",
      "a/deep/y.annotations.jsonl",
      "B.annotations.jsonl",
      "x.jsonl",
    ]) {
      writeFileSync(join(folder, name), "");
    }
    symlinkSync(folder, join(folder, "a", "circle"));
    expect(await sidecarFiles(folder)).toEqual({
      many: true,
      paths: ["B.annotations.jsonl", "a/deep/y.annotations.jsonl", "z.tape.annotations.jsonl"].map((name) =>
        join(folder, name),
      ),
    });
  });
});

describe("anything else", () => {
  test("stands for itself, also when it is not there: whoever reads it says so", async () => {
    expect(await sidecarFiles("nothing/here")).toEqual({ many: false, paths: ["nothing/here"] });
  });
});
