import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../testing/temp-dir.ts";
import { replaceFile, withDraft, writeOutput, writeWhole } from "./write-file.ts";

async function* breakingOff(): AsyncGenerator<string> {
  yield "x".repeat(200_000);
  throw new Error("the source gave up");
}

describe("an output file", () => {
  test("is made with the directories it needs", async () => {
    const path = join(tempDir(), "a", "b", "out");
    await writeOutput(path, ["one\n", "two\n"]);
    expect(readFileSync(path, "utf8")).toBe("one\ntwo\n");
  });

  test("is what it was before when writing breaks off, and nothing lies beside it", async () => {
    const folder = tempDir();
    const path = join(folder, "out");
    writeFileSync(path, "before");
    await expect(writeOutput(path, breakingOff())).rejects.toThrow("the source gave up");
    expect(readFileSync(path, "utf8")).toBe("before");
    expect(readdirSync(folder)).toEqual(["out"]);
  });

  test("cannot take the place of a directory", async () => {
    const folder = tempDir();
    const path = join(folder, "sub");
    await writeOutput(join(path, "x"), ["x"]);
    await expect(writeOutput(path, ["y"])).rejects.toMatchObject({ code: "write_failed", path });
    expect(readdirSync(folder)).toEqual(["sub"]);
  });

  test("that is a link stays one, and what it leads to is replaced", async () => {
    const folder = tempDir();
    const [file, link] = [join(folder, "file"), join(folder, "link")];
    writeFileSync(file, "before");
    symlinkSync("file", link);
    await writeOutput(link, ["after"]);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(file, "utf8")).toBe("after");
    expect(readdirSync(folder)).toEqual(["file", "link"]);
  });

  test("has the permissions that it had before", async () => {
    const path = join(tempDir(), "out");
    for (const mode of [0o600, 0o640, 0o644]) {
      writeFileSync(path, "before");
      chmodSync(path, mode);
      await writeOutput(path, ["after"]);
      expect(statSync(path).mode & 0o777).toBe(mode);
    }
  });

  test.skipIf(!existsSync("/dev/null"))("does not take the place of a device", async () => {
    await writeOutput("/dev/null", ["x"]);
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
  });
});

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
        ["SIGINT", "SIGTERM", "SIGHUP"],
        (by) => ended.push(by),
      );
      expect(ended).toEqual([signal]);
    }
  });

  test("leaves no listener for signals behind", async () => {
    const before = process.listenerCount("SIGTERM");
    await withDraft(join(tempDir(), "draft"), async () => {});
    expect(process.listenerCount("SIGTERM")).toBe(before);
  });
});

describe("a whole file", () => {
  test("can be read by its owner alone where that is asked for, also when others could read it before", async () => {
    const path = join(tempDir(), "out");
    await writeWhole(path, ["first"], { ownerOnly: true });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    chmodSync(path, 0o644);
    await writeWhole(path, ["second"], { ownerOnly: true });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("is compressed when its name ends in .gz", async () => {
    const path = join(tempDir(), "out.gz");
    await writeWhole(path, ["one\n", "two\n"]);
    expect(gunzipSync(readFileSync(path)).toString()).toBe("one\ntwo\n");
  });

  test("needs a folder that exists, and the error names the file as it was given", async () => {
    const path = join(tempDir(), "missing", "out");
    await expect(writeWhole(path, ["x"])).rejects.toMatchObject({
      code: "unusable_input",
      message: `${path} cannot be written: ENOENT: no such file or directory.`,
    });
  });

  test("of a process that serves is written without listening for its signals", async () => {
    const path = join(tempDir(), "out");
    const before = process.listenerCount("SIGTERM");
    let during = 0;
    const write = async (file: Writable) => {
      during = process.listenerCount("SIGTERM");
      file.end("x");
      await finished(file);
    };
    await replaceFile(path, write, { byServer: true });
    expect([during, readFileSync(path, "utf8")]).toEqual([before, "x"]);
  });
});
