import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { KEYS, testHost } from "../../testing/host.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { main } from "../main.ts";

type Assay = (...argv: string[]) => Promise<{ code: number; out: string; err: string }>;

function assayWith(env: Record<string, string>, cwd: string, ...always: string[]): Assay {
  return async (...argv) => {
    const io = recordedIo();
    const code = await main([...argv, ...always], { io, env, cwd });
    return { code, out: io.outLines.join("\n"), err: io.errLines.join("\n") };
  };
}

/** The same deeds and the same words, whichever way the database is reached. */
async function tellsTheStory(assay: Assay): Promise<void> {
  expect(await assay("key", "create", "--principal", "kim", "--group", "east,night", "--group", "ops")).toMatchObject({
    code: 0,
  });
  expect((await assay("principal", "list")).out).toMatch(/^kim +user +- +viewer +east,night,ops +(ada|-)$/m);
  expect(await assay("role", "set", "lead", "--scopes", "runs:read,runs:cancel")).toMatchObject({
    code: 0,
    out: "lead: runs:read, runs:cancel",
  });
  expect((await assay("role", "set", "legal", "--scopes", "none")).out).toBe("legal: no scopes");
  expect((await assay("role", "list")).out).toMatch(/^lead +tenant +runs:read,runs:cancel$/m);
  expect((await assay("principal", "set", "kim", "--roles", "lead", "--group", "legal")).out).toBe(
    "kim: roles lead; groups legal",
  );
  expect((await assay("principal", "set", "kim", "--group", "none")).out).toBe("kim: roles lead; groups none");
  const set = await assay("principal", "set", "kim", "--roles", "viewer", "--workspace", "w1", "--json");
  expect(JSON.parse(set.out)).toMatchObject({ principal: "kim", roles: ["lead", "viewer"] });
  expect((await assay("key", "list")).out).toMatch(/\bGROUPS\b/);
  expect((await assay("role", "remove", "lead")).out).toBe("lead removed");
  expect((await assay("role", "list")).out).not.toMatch(/^lead\b/m);
  expect(await assay("role", "remove", "lead")).toMatchObject({ code: 2, err: expect.stringContaining("no role") });
}

describe("roles and groups on the command line", () => {
  let cwd: string;
  beforeEach(() => {
    cwd = tempDir();
  });

  test("are managed through a server", async () => {
    const host = await testHost();
    const url = await host.listen();
    try {
      const assay = assayWith({ ASSAY_URL: url, ASSAY_KEY: KEYS.owner.key }, cwd);
      await tellsTheStory(assay);
      expect((await assay("whoami")).out).toMatch(/^Groups +none$/m);
    } finally {
      await host.close();
    }
  });

  test("are managed in the database itself", async () => {
    await (await openSqliteStore({ path: join(cwd, "assay.db") })).close();
    await tellsTheStory(assayWith({}, cwd, "--data", cwd));
  });

  test.each([
    [["role", "set", "lead"], "--scopes is missing"],
    [["principal", "set", "kim", "--group", "none,legal"], "--group takes names, or none alone"],
    [["principal", "set", "kim", "--roles", ","], "--roles takes names, or none alone"],
  ])("are refused without asking anybody: %j", async (argv, message) => {
    writeFileSync(join(cwd, "assay.config.json"), '{"url":"http://127.0.0.1:9"}');
    expect(await assayWith({}, cwd)(...argv)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  });
});
