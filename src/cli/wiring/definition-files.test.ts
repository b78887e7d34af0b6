import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Host } from "../../engine/host.ts";
import { loadSuite, requireSuite } from "../../evals/suite/load-suite.ts";
import { keepHostWide, readSuite } from "../../evals/suite/suite-store.ts";
import { HOST_TENANT } from "../../protocol/audit/audit.ts";
import { HOST_WIDE } from "../../store/port/store.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import { evalSuite, goldenTask } from "../../testing/suite-builders.ts";
import { tempDir } from "../../testing/temp-dir.ts";
import { defaultConfig } from "../settings/config.ts";
import { buildHost } from "./build-host.ts";
import { checkSuiteFiles, checkWorkflowFiles, keepSuites, registerNew, type SkippedFile } from "./definition-files.ts";

let host: Host;
let folder: string;

beforeEach(async () => {
  host = await buildHost(await openSqliteStore({ path: ":memory:" }), defaultConfig());
  folder = tempDir();
});
afterEach(() => host.store.close());

async function registerWorkflowFiles(folders: readonly string[]): Promise<readonly SkippedFile[]> {
  const { writes, skipped } = await checkWorkflowFiles(host, folders);
  await registerNew(host, writes);
  return skipped;
}

function definition(id: string, more: object = {}, typeId = "core.noop") {
  const node = { id: "a", typeId, name: "A", position: { x: 0, y: 0 }, config: {}, inputs: {} };
  const parts = { edges: [], triggers: [], variables: [], metadata: {}, settings: {} };
  return { id, name: id, version: "1", nodes: [node], ...parts, ...more };
}

function write(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content, null, 2));
  return path;
}

describe("the files of a workflow folder", () => {
  test("are registered for every tenant, in the author's own words", async () => {
    write("one.json", definition("one"));
    write("two.json", definition("two"));
    write("notes.txt", "not a workflow");
    expect(await registerWorkflowFiles([folder])).toEqual([]);
    for (const tenant of ["t1", "t2"]) {
      const listed = await host.store.listWorkflows(tenant, "", 10);
      expect(listed.map(({ workflowId }) => workflowId)).toEqual(["one", "two"]);
    }
    const stored = await host.store.readWorkflow("t1", "one");
    expect(stored?.definition).toBe(JSON.stringify(definition("one"), null, 2));
  });

  test("that cannot be registered are named with the reason, and the rest is registered", async () => {
    write("good.json", definition("good"));
    const broken = write("broken.json", "{ not json");
    const unknown = write("unknown.json", definition("unknown", {}, "core.nonsense"));
    const invalid = write("invalid.json", { id: "x" });
    mkdirSync(join(folder, "a-folder.json"));
    const skipped = await registerWorkflowFiles([folder]);
    expect(skipped).toEqual([
      { file: join(folder, "a-folder.json"), reason: expect.stringContaining("EISDIR") },
      { file: broken, reason: expect.stringContaining("not JSON") },
      { file: invalid, reason: expect.stringMatching(/must have/) },
      { file: unknown, reason: expect.stringContaining("core.nonsense") },
    ]);
    expect(await host.store.readWorkflow("t1", "good")).toBeDefined();
  });

  test("with one id and two contents leave the first", async () => {
    write("a.json", definition("same"));
    const second = write("b.json", definition("same", { name: "Other" }));
    write("c.json", definition("same"));
    const skipped = await registerWorkflowFiles([folder]);
    expect(skipped).toEqual([{ file: second, reason: expect.stringContaining("a.json has the same id, same") }]);
  });

  test("are left alone at the next start unless they changed", async () => {
    write("one.json", definition("one"));
    await registerWorkflowFiles([folder]);
    await registerWorkflowFiles([folder]);
    expect(await host.store.readAudit(HOST_TENANT, 1, 100, 100)).toHaveLength(1);
    write("one.json", definition("one", { version: "2" }));
    await registerWorkflowFiles([folder]);
    const entries = await host.store.readAudit(HOST_TENANT, 1, 100, 100);
    expect(entries.map(({ action, target }) => [action, target])).toEqual([
      ["workflow.registered", "one"],
      ["workflow.registered", "one"],
    ]);
  });
});

test("a folder that cannot be read is refused", async () => {
  await expect(registerWorkflowFiles([join(folder, "nowhere")])).rejects.toThrow(/--workflows cannot be read/);
  mkdirSync(join(folder, "empty"));
  expect(await registerWorkflowFiles([join(folder, "empty")])).toEqual([]);
});

describe("a gate of a workflow folder that asks for an evaluation", () => {
  const gated = (suite: string) => {
    const config = { requiredRole: "reviewer", requiredEval: { suite, agentId: "local.acme.x" } };
    const gate = { id: "gate", typeId: "core.openwop.governance.approvalGate", name: "G", config, inputs: {} };
    return definition("gated", { nodes: [{ ...gate, position: { x: 0, y: 0 } }] });
  };

  test("is registered with a suite of the host, and pinned to it once", async () => {
    write("gated.json", gated("acme.support.evals.refunds@1.0.0"));
    expect(await registerWorkflowFiles([folder])).toEqual([
      {
        file: join(folder, "gated.json"),
        reason: 'node "gate" requiredEval: there is no suite acme.support.evals.refunds@1.0.0 here',
      },
    ]);
    const suite = requireSuite(loadSuite(Buffer.from(JSON.stringify(evalSuite()))), "the suite");
    await keepHostWide(host, suite);
    expect(await registerWorkflowFiles([folder])).toEqual([]);
    const pins = () => host.store.listDocuments(HOST_WIDE, "gate-suites", { limit: 10 });
    expect((await pins()).map(({ body, revision }) => [JSON.parse(body), revision])).toEqual([
      [{ gate: suite.sha256 }, 1],
    ]);
    const before = await pins();
    expect(await registerWorkflowFiles([folder])).toEqual([]);
    expect(await pins()).toEqual(before);
  });
});

async function registerSuiteFiles(folders: readonly string[] = [folder]): Promise<readonly SkippedFile[]> {
  const { suites, skipped } = await checkSuiteFiles(host, folders);
  await keepSuites(host, suites);
  return skipped;
}

describe("the files of a suite folder", () => {
  test("are there for every tenant", async () => {
    write("a.json", evalSuite());
    write("notes.txt", "no suite");
    expect(await registerSuiteFiles()).toEqual([]);
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
    expect(await registerSuiteFiles()).toEqual([
      {
        file: bad,
        reason: expect.stringMatching(/^\/version does not .* \(line \d+, column \d+\); 1 more: assay suite validate/),
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
    expect(await registerSuiteFiles()).toEqual([
      { file: other, reason: expect.stringContaining("a.json is acme.support.evals.refunds@1.0.0 too") },
    ]);
    const changed = write("a.json", evalSuite({ tasks: [goldenTask("changed")] }));
    expect((await registerSuiteFiles()).find(({ file }) => file === changed)?.reason).toContain("Raise its version");
    expect((await readSuite(host, "t1", "acme.support.evals.refunds")).suite).toEqual(evalSuite());
  });

  test("are left alone at the next start", async () => {
    write("a.json", evalSuite());
    await registerSuiteFiles();
    expect(await registerSuiteFiles()).toEqual([]);
    write("b.json", evalSuite({ version: "1.0.1" }));
    await registerSuiteFiles();
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
  await expect(registerSuiteFiles([join(folder, "nowhere")])).rejects.toThrow(/--suites cannot be read/);
  expect(await registerSuiteFiles([folder])).toEqual([]);
});
