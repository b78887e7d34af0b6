import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { workflowFolder } from "./assay.ts";
import { type Server, serve } from "./in-process.ts";

let server: Server;
let source: string;
beforeAll(async () => {
  server = await serve(["--data", tempDir(), "--workflows", workflowFolder()]);
  source = await idOf("run", "start", "greet", "--input", "name=Ada");
  await server.client("run", "watch", source);
});

async function idOf(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await server.client(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^run-\w+\n$/);
  return stdout.trim();
}

describe("forking a run", () => {
  test("replays it, and nothing differs", async () => {
    const replay = await idOf("run", "fork", source);
    expect(await server.client("run", "watch", replay)).toMatchObject({ code: 0 });
    const { code, stdout } = await server.client("run", "diff", source, replay);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `--- ${source}\n+++ ${replay}\nNothing differs.\n` });
    expect((await server.client("run", "show", replay)).stdout).toMatch(
      new RegExp(`Forked from +${source} at sequence 0\n`),
    );
  });

  test("branches off with other options, and what differs is shown and is exit code 1", async () => {
    const file = join(tempDir(), "overlay.json");
    writeFileSync(file, '{"inputs":{"name":"Grace"}}');
    const args = ["run", "fork", source, "--mode", "branch", "--from-seq", "1", "--overlay", `@${file}`];
    const branch = await server.client(...args, "--watch");
    expect(branch.code).toBe(0);
    const differing = await server.client("run", "diff", source, branch.stderr.trim());
    expect(differing.code).toBe(1);
    expect(differing.stdout).toContain("They differ from sequence 1 on.");
    expect(differing.stdout).toContain('@@ variable name @@\n- "Ada"\n+ "Grace"\n');
    const { code, stdout } = await server.client("run", "diff", source, branch.stderr.trim(), "--json");
    expect([code, JSON.parse(stdout).divergedAtSeq]).toEqual([1, 1]);
  });

  test("that cannot be is exit code 2 and says why", async () => {
    expect(await server.client("run", "fork", source, "--mode", "branch")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("fromSeq is required to branch"),
    });
    expect(await server.client("run", "fork", source, "--from-seq", "999")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("its log ends at sequence"),
    });
    expect(await server.client("run", "fork", source, "--mode", "rewind")).toMatchObject({ code: 2 });
    expect(await server.client("run", "fork", source, "--motivated-by", "ann-unknown")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("motivatedBy names no annotation"),
    });
    expect(await server.client("run", "diff", source, "run-nothing")).toMatchObject({ code: 2, stdout: "" });
  });
});
