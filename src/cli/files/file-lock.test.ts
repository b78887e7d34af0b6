import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../testing/temp-dir.ts";
import { type LockSettings, lockOf, removeLeftOver, withFileLock } from "./file-lock.ts";

const quick: LockSettings = { waitMs: 2_000, pollMs: 1, staleMs: 60_000 };
/** No process has a number this high. */
const DEAD = 2 ** 30;
const held = (holder: object) => JSON.stringify({ pid: process.pid, host: hostname(), token: "t", ...holder });

describe("the lock of a file", () => {
  test("is held by one at a time, and leaves nothing behind", async () => {
    const folder = tempDir();
    const path = join(folder, "f");
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await sleep(2);
      inside--;
    };
    await Promise.all(Array.from({ length: 10 }, () => withFileLock(path, work, quick)));
    expect(most).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is given back when the work fails", async () => {
    const path = join(tempDir(), "f");
    const work = async () => {
      throw new Error("no");
    };
    await expect(withFileLock(path, work, quick)).rejects.toThrow("no");
    expect(existsSync(lockOf(path))).toBe(false);
  });

  test("is taken over from a process that is gone, by one of those who wait", async () => {
    const path = join(tempDir(), "f");
    writeFileSync(lockOf(path), held({ pid: DEAD }));
    const done: number[] = [];
    await Promise.all([1, 2, 3, 4].map((n) => withFileLock(path, async () => void done.push(n), quick)));
    expect(done.sort()).toEqual([1, 2, 3, 4]);
  });

  test("is taken over when it is too old to be held, wherever it was taken", async () => {
    const path = join(tempDir(), "f");
    writeFileSync(lockOf(path), held({ pid: DEAD, host: "elsewhere.example" }));
    const now = { ...quick, waitMs: 5 };
    await expect(withFileLock(path, async () => {}, now)).rejects.toThrow(`process ${DEAD} on elsewhere.example`);
    const hourAgo = Date.now() / 1000 - 3600;
    utimesSync(lockOf(path), hourAgo, hourAgo);
    await withFileLock(path, async () => {}, now);
    expect(existsSync(lockOf(path))).toBe(false);
  });

  test("stays when it is another one by the time it is removed as left over", () => {
    const lock = lockOf(join(tempDir(), "f"));
    writeFileSync(lock, held({ token: "of the quicker process" }));
    removeLeftOver(lock, held({ pid: DEAD }));
    expect(readFileSync(lock, "utf8")).toBe(held({ token: "of the quicker process" }));
    removeLeftOver(lock, held({ token: "of the quicker process" }));
    expect(readdirSync(dirname(lock))).toEqual([]);
  });

  test("that names no holder is not taken over", async () => {
    const path = join(tempDir(), "f");
    writeFileSync(lockOf(path), "");
    await expect(withFileLock(path, async () => {}, { ...quick, waitMs: 5 })).rejects.toThrow(
      "another process is writing it",
    );
  });

  test("is not removed by the process that lost it", async () => {
    const path = join(tempDir(), "f");
    const other = held({ token: "another" });
    await withFileLock(path, async () => writeFileSync(lockOf(path), other), quick);
    expect(existsSync(lockOf(path))).toBe(true);
  });

  test("keeps others waiting no longer than they want, and says who holds it and what to do", async () => {
    const path = join(tempDir(), "f");
    writeFileSync(lockOf(path), held({}));
    const refused = withFileLock(path, async () => {}, { ...quick, waitMs: 5 });
    await expect(refused).rejects.toMatchObject({
      code: "write_failed",
      message: `write ${path}: process ${process.pid} on ${hostname()} is writing it; if that process has ended, remove ${path}.lock`,
    });
  });

  test("cannot be taken where nothing can be written", async () => {
    const file = join(tempDir(), "file");
    writeFileSync(file, "");
    const path = join(file, "f");
    await expect(withFileLock(path, async () => {}, quick)).rejects.toMatchObject({ code: "write_failed", path });
  });
});
