import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Host } from "../../engine/host.ts";
import { readSuite } from "../../evals/suite/suite-store.ts";
import { HOST_TENANT } from "../../protocol/audit/audit.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { evalSuite, goldenTask } from "../../testing/suite-builders.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { defaultConfig } from "../settings/config.ts";
import { buildHost } from "./build-host.ts";
import { checkSuiteFiles, keepSuites } from "./suite-files.ts";
import type { SkippedFile } from "./workflow-files.ts";

let host: Host;
let folder: string;

beforeEach(async () => {
  host = await buildHost(await openSqliteStore({ path: ":memory:" }), defaultConfig());
  folder = tempDir();
});
afterEach(() => host.store.close());

async function start(folders: readonly string[] = [folder]): Promise<readonly SkippedFile[]> {
  const { suites, skipped } = await checkSuiteFiles(host, folders);
  await keepSuites(host, suites);
  return skipped;
}

function write(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

describe("the files of a suite folder", () => {
  test("are there for every tenant", async () => {
    write("a.json", evalSuite());
    write("notes.txt", "no suite");
    expect(await start()).toEqual([]);
    for (const tenant of ["t1", "t2"]) {
      const found = await readSuite(host, tenant, "acme.support.evals.refunds@1.0.0");
      expect(found).toMatchObject({ suite: evalSuite(), info: { hostWide: true, registeredBy: "host" } });
    }
  });

  test("that cannot be kept are named with the first problem, and the rest is kept", async () => {
    const bad = write("bad.json", { ...evalSuite(), version: "x", modes: [] });
    const broken = write("broken.json", "{ not json");
    mkdirSync(join(folder, "folder.json"));
    write("good.json", evalSuite());
    const secret = write(
      "secret.json",
      evalSuite({ tasks: [goldenTask("a", { input: `${"AKIA"}IOSFODNN7EXAMPLZ` })] }),
    );
    expect(await start()).toEqual([
      {
        file: bad,
        reason: expect.stringMatching(/^\/version does not .* \(line 1, column \d+\); 1 more: assay suite validate/),
      },
      { file: broken, reason: expect.stringContaining("the suite is not JSON") },
      { file: join(folder, "folder.json"), reason: expect.stringContaining("EISDIR") },
      { file: secret, reason: expect.stringContaining("looks like a secret") },
    ]);
    expect((await readSuite(host, "t1", "acme.support.evals.refunds")).suite).toEqual(evalSuite());
  });

  test("with one name and two contents leave the first, and one that stands stays", async () => {
    write("a.json", evalSuite());
    const other = write("b.json", evalSuite({ tasks: [goldenTask("other")] }));
    write("c.json", evalSuite());
    expect(await start()).toEqual([
      { file: other, reason: expect.stringContaining("a.json is acme.support.evals.refunds@1.0.0 too") },
    ]);
    const changed = write("a.json", evalSuite({ tasks: [goldenTask("changed")] }));
    expect((await start()).find(({ file }) => file === changed)?.reason).toContain("Raise its version");
    expect((await readSuite(host, "t1", "acme.support.evals.refunds")).suite).toEqual(evalSuite());
  });

  test("are left alone at the next start", async () => {
    write("a.json", evalSuite());
    await start();
    expect(await start()).toEqual([]);
    write("b.json", evalSuite({ version: "1.0.1" }));
    await start();
    const entries = await host.store.readAudit(HOST_TENANT, 1, 100, 100);
    expect(entries.map(({ action, target }) => `${action} ${target}`)).toEqual([
      "suite.registered acme.support.evals.refunds@1.0.0",
      "suite.registered acme.support.evals.refunds@1.0.1",
    ]);
  });

  test("are kept once by hosts that start at the same moment", async () => {
    write("a.json", evalSuite());
    const checked = await Promise.all([checkSuiteFiles(host, [folder]), checkSuiteFiles(host, [folder])]);
    await Promise.all(checked.map(({ suites }) => keepSuites(host, suites)));
    expect(await host.store.readAudit(HOST_TENANT, 1, 100, 100)).toHaveLength(1);
    const [mine] = checked;
    const other = { ...mine?.suites[0], sha256: "0".repeat(64) } as (typeof checked)[0]["suites"][0];
    await expect(keepSuites(host, [other])).rejects.toMatchObject({ code: "suite_conflict" });
  });
});

test("a folder that cannot be read is refused", async () => {
  await expect(start([join(folder, "nowhere")])).rejects.toThrow(/--suites cannot be read/);
  expect(await start([folder])).toEqual([]);
});
