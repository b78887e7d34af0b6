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
import { describe, expect, test } from "vitest";
import { tempDir } from "../../../testing/temp-dir.ts";
import { writeOutput } from "./write-output.ts";

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

  test("can be read by those who could read it before, and nobody else", async () => {
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
