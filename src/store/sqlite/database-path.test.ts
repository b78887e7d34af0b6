import { existsSync, realpathSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../testing/temp-dir.ts";
import { databasePath, makeDatabaseFile } from "./database-path.ts";

describe("the path of a database", () => {
  test("has its folders made, for the owner only, and so is the file", () => {
    const path = databasePath(join(tempDir(), "a", "b", "assay.db"));
    makeDatabaseFile(path);
    expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test("is the same through a link", () => {
    const dir = realpathSync(tempDir());
    writeFileSync(join(dir, "real.db"), "");
    symlinkSync(join(dir, "real.db"), join(dir, "link.db"));
    expect(databasePath(join(dir, "link.db"))).toBe(databasePath(join(dir, "real.db")));
  });

  test.runIf(existsSync("/proc/self"))("is refused where no folder can be made, and does not hang", () => {
    expect(() => databasePath("/proc/no-such-folder/assay.db")).toThrow(/ENOENT|EACCES|EPERM/);
  });
});
