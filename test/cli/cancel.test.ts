import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { calls, GATE } from "../../src/testing/family.ts";
import { tempDir } from "../../src/testing/temp-dir.ts";
import { workflow } from "../../src/testing/workflow.ts";
import { type Server, serve } from "./in-process.ts";

let server: Server;
beforeAll(async () => {
  const folder = tempDir();
  const detached = { waitForCompletion: false, propagateCancellation: false };
  const nodes = { a: calls("leaf", detached), b: calls("leaf", detached) };
  for (const one of [workflow({ id: "leaf", nodes: { gate: GATE } }), workflow({ id: "top", nodes })]) {
    writeFileSync(join(folder, `${one.id}.json`), JSON.stringify(one));
  }
  server = await serve(["--data", tempDir(), "--workflows", folder]);
});

test("a run is cancelled with all runs below it, also after it has ended itself", async () => {
  const { stdout } = await server.client("run", "start", "top", "--wait", "--json");
  const done = await server.client("run", "cancel", JSON.parse(stdout).runId, "--descendants");
  expect(done).toEqual({ code: 0, stdout: "2 cancelled\n", stderr: "" });
});

test("all runs of a workflow are cancelled", async () => {
  for (const _one of [1, 2, 3]) await server.client("run", "start", "leaf");
  const done = await server.client("run", "cancel", "--workflow", "leaf", "--json");
  expect(done).toEqual({ code: 0, stdout: '{"cancelled":3,"failed":0}\n', stderr: "" });
});

test("a command that names neither a run nor a workflow, or both, is refused", async () => {
  for (const args of [[], ["run-1", "--workflow", "leaf"], ["run-1", "run-2", "--descendants"]]) {
    expect(await server.client("run", "cancel", ...args)).toMatchObject({ code: 2, stdout: "" });
  }
});
