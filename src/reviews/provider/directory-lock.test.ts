import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { eventually } from "../../testing/eventually.ts";
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

  test("that somebody else succeeded to after it was looked at is theirs", async () => {
    const folder = tempDir();
    const [file, aside] = [join(folder, "lock"), join(folder, "aside")];
    const theirs = await lockDirectory(folder, 0);
    const holder = JSON.parse(readFileSync(file, "utf8"));
    renameSync(file, aside);
    writeFileSync(file, JSON.stringify({ ...holder, token: "0".repeat(24) }));
    // The moment between finding that the holder has ended and taking its place.
    const asked = vi.spyOn(process, "kill").mockImplementationOnce(() => {
      renameSync(aside, file);
      throw Object.assign(new Error("no such process"), { code: "ESRCH" });
    });
    expect(await lockDirectory(folder, 0)).toBeUndefined();
    asked.mockRestore();
    expect(await theirs?.isHeld()).toBe(true);
    expect(readdirSync(folder)).toEqual(["lock"]);
  });

  test.runIf(existsSync("/proc/self/stat"))(
    "of a process that ended is free, also while nobody has asked how",
    async () => {
      const folder = tempDir();
      await lockDirectory(folder, 0);
      // The shell becomes a program that never asks how its child ended.
      const parent = spawn("sh", ["-c", "sleep 1 & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
      try {
        const [said] = await once(parent.stdout, "data");
        const pid = Number(String(said));
        const fields = () => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
        await eventually(() => expect(fields()[0]).toBe("Z"));
        const file = join(folder, "lock");
        const holder = JSON.parse(readFileSync(file, "utf8"));
        writeFileSync(file, JSON.stringify({ ...holder, pid, began: fields()[19] }));
        expect(await lockDirectory(folder, 0)).toBeDefined();
      } finally {
        parent.kill();
      }
    },
  );

  test("that is a pipe is refused, not waited for", async () => {
    const folder = tempDir();
    execFileSync("mkfifo", [join(folder, "lock")]);
    await expect(lockDirectory(folder, 0)).rejects.toMatchObject({ code: "unusable_input" });
  });
});
