import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../../testing/temp-dir.ts";
import { withDraft } from "./with-draft.ts";

describe("a draft", () => {
  test("is removed when the work on it fails", async () => {
    const folder = tempDir();
    const draft = join(folder, "draft");
    const work = async () => {
      writeFileSync(draft, "half");
      throw new Error("no room");
    };
    await expect(withDraft(draft, work)).rejects.toThrow("no room");
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is removed when a signal ends the process, which then ends by that signal", async () => {
    const draft = join(tempDir(), "draft");
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      const before = process.listenerCount(signal);
      const ended: string[] = [];
      await withDraft(
        draft,
        async () => {
          writeFileSync(draft, "half");
          process.listeners(signal).at(-1)?.(signal);
          expect(existsSync(draft)).toBe(false);
          expect(process.listenerCount(signal)).toBe(before);
        },
        (by) => ended.push(by),
      );
      expect(ended).toEqual([signal]);
    }
  });

  test("keeps nobody listening for signals", async () => {
    const before = process.listenerCount("SIGTERM");
    await withDraft(join(tempDir(), "draft"), async () => {});
    expect(process.listenerCount("SIGTERM")).toBe(before);
  });
});
