import { createHash } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { begin, engineOn, logOf, register, until } from "../../testing/engine.ts";
import { ended, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import { CANARY_ID, secretEcho } from "./secret-echo.ts";

const SECRET = "schlüssel-of-the-test";
const bench = workbench();
let host: Host;

beforeEach(() => {
  host = engineOn(bench.store, [secretEcho((id) => (id === CANARY_ID ? SECRET : undefined))]);
  bench.work(host);
});

async function echo(config: object) {
  const nodes = { echo: { typeId: "conformance.secret.echo", config: { ...config } } };
  const workflowId = await register(host, workflow({ nodes }));
  return until(bench.store, await begin(host, { workflowId }), ended);
}

test("a secret that is found is known by its hash and its length, and is nowhere itself", async () => {
  const run = await echo({ secretId: CANARY_ID });
  expect(run).toMatchObject({
    status: "completed",
    variables: { sha256: createHash("sha256").update(SECRET).digest("hex"), byteLength: 22 },
  });
  const stored = [await logOf(bench.store, run.runId), await bench.store.runRow(run.runId)];
  expect(JSON.stringify(stored)).not.toContain(SECRET);
});

test("a secret that this host does not have fails the run, whatever it is called", async () => {
  const bare = secretEcho(() => undefined);
  const context = { node: { id: "echo" }, config: {} } as Parameters<typeof bare.execute>[0];
  expect(await bare.execute(context)).toMatchObject({ type: "failed", error: { code: "secret_not_found" } });
  for (const secretId of ["another", "constructor"]) {
    expect(await echo({ secretId })).toMatchObject({ status: "failed", error: { code: "secret_not_found" } });
  }
});
