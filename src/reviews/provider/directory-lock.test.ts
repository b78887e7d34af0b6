import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../testing/temp-dir.ts";
import { lockDirectory } from "./directory-lock.ts";

describe("a lock", () => {
  test("that was taken over is not given up for whoever has it now", async () => {
    const folder = tempDir();
    const mine = await lockDirectory(folder, 0);
    const file = join(folder, "lock");
    const holder = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(file, JSON.stringify({ ...holder, token: "0".repeat(24) }));
    expect(await mine?.isHeld()).toBe(false);
    await mine?.release();
    expect(existsSync(file)).toBe(true);
  });

  test("is held while its process lives, and free afterwards", async () => {
    const folder = tempDir();
    const mine = await lockDirectory(folder, 0);
    expect(await lockDirectory(folder, 0)).toBeUndefined();
    await mine?.release();
    expect(await lockDirectory(folder, 0)).toBeDefined();
  });

  test.runIf(existsSync("/proc/self/stat"))(
    "of a process that ended is free, also when another has its number",
    async () => {
      const folder = tempDir();
      await lockDirectory(folder, 0);
      const file = join(folder, "lock");
      const holder = JSON.parse(readFileSync(file, "utf8"));
      writeFileSync(file, JSON.stringify({ ...holder, began: "1" }));
      expect(await lockDirectory(folder, 0)).toBeDefined();
    },
  );
});
