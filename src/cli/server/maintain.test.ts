import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";

test("a database is not migrated in a folder that does not exist, and none is made", async () => {
  const cwd = tempDir();
  const io = recordedIo();
  const code = await main(["migrate", "--data", "typo"], { io, env: {}, cwd });
  expect({ code, err: io.errLines.join() }).toMatchObject({
    code: 2,
    err: expect.stringContaining("there is no folder"),
  });
  expect(existsSync(`${cwd}/typo`)).toBe(false);
});
