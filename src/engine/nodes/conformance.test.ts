import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { ADA, begin, engineOn, logOf, register, until } from "../../testing/engine.ts";
import { ended as over, workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import { logicalInvocationId } from "../runs/effects.ts";
import { forkRun } from "../runs/fork-run.ts";
import { checkWorkflow } from "../workflows/check-workflow.ts";
import { NODE_TYPES } from "./all.ts";
import { CONFORMANCE_SECRET_ID, secretEcho, sideEffect } from "./conformance.ts";

const bench = workbench();
const ended = ({ status }: { status: string }) => isTerminal(status as never);
const definition = workflow({ id: "effect", nodes: { act: "core.conformance.side-effect" } });

describe("the node that a conformance suite watches", () => {
  test("is not there for anybody else", () => {
    expect(() => checkWorkflow(NODE_TYPES, definition)).toThrow("needs the conformance seams");
  });

  test("claims its effect under the effect's identity, and a replay tells of it without claiming another", async () => {
    const host = engineOn(bench.store, [sideEffect(engineOn(bench.store))]);
    await register(host, definition);
    bench.work(host);
    const source = await begin(host, { workflowId: "effect" });
    await until(bench.store, source, ended);
    const identity = { tenantId: "t1", nodeId: "act", ordinal: 0, providerKey: "conformance:side-effect" };
    const effectId = logicalInvocationId({ ...identity, runId: source });
    expect(await bench.store.readEffect(effectId)).toMatchObject({ state: "succeeded" });
    const [completed] = (await logOf(bench.store, source)).filter(({ type }) => type === "node.completed");
    expect(completed?.payload).toMatchObject({ outputs: { effectId } });

    const request = { mode: "replay" as const };
    const { runId } = await forkRun(host, { caller: ADA, runId: source, request, record: () => undefined });
    expect(await until(bench.store, runId, ended)).toMatchObject({ status: "completed", outputs: { effectId } });
    expect(await bench.store.readEffect(logicalInvocationId({ ...identity, runId }))).toBeUndefined();
  });
});

const SECRET = "schlüssel-of-the-test";
describe("the secret of a conformance suite", () => {
  let host: Host;

  beforeEach(() => {
    host = engineOn(bench.store, [secretEcho((id) => (id === CONFORMANCE_SECRET_ID ? SECRET : undefined))]);
    bench.work(host);
  });

  async function echo(config: object) {
    const nodes = { echo: { typeId: "conformance.secret.echo", config: { ...config } } };
    const workflowId = await register(host, workflow({ nodes }));
    return until(bench.store, await begin(host, { workflowId }), over);
  }

  test("a secret that is found is known by its hash and its length, and is nowhere itself", async () => {
    const run = await echo({ secretId: CONFORMANCE_SECRET_ID });
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
});
