import { beforeAll, describe, expect, test } from "vitest";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { workflowFolder } from "./assay.ts";
import { type Server, serve } from "./in-process.ts";

let server: Server;
beforeAll(async () => {
  server = await serve(["--data", tempDir(), "--workflows", workflowFolder()]);
});

async function greeted(): Promise<string> {
  const { code, stdout } = await server.client("run", "start", "greet", "--input", "name=Ada", "--wait", "--json");
  expect(code).toBe(0);
  return JSON.parse(stdout).runId;
}

describe("deleting runs", () => {
  test("removes them, with what was said about them, and they cannot be forked any more", async () => {
    const [first, second] = [await greeted(), await greeted()];
    await server.client("annotate", first, "--up");
    const { code, stdout, stderr } = await server.client("run", "delete", first, second, "--yes");
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `${first} deleted, with 1 judgment\n${second} deleted\n`,
      stderr: "",
    });
    expect(await server.client("run", "show", first)).toMatchObject({ code: 2, stdout: "" });
    const fork = await server.client("run", "fork", first);
    expect({ ...fork, stderr: "" }).toMatchObject({ code: 2, stdout: "" });
    expect((await server.client("audit", "verify")).code).toBe(0);
  });

  test("is not done where nobody can be asked", async () => {
    const runId = await greeted();
    const { code, stderr } = await server.client("run", "delete", runId);
    expect(code).toBe(2);
    expect(stderr).toContain("--yes");
    expect((await server.client("run", "show", runId)).code).toBe(0);
  });

  test("goes on after one that cannot be deleted, and says so", async () => {
    const runId = await greeted();
    const { code, stdout, stderr } = await server.client("run", "delete", "run-none", runId, "--yes");
    expect({ code, stdout }).toEqual({ code: 2, stdout: `${runId} deleted\n` });
    expect(stderr).toMatch(/^error: run-none: .*\n$/);
    const again = await server.client("run", "delete", runId, "--yes", "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ results: [{ runId, error: { error: "not_found" } }] });
  });
});
