import { describe, expect, test } from "vitest";
import { isTerminal } from "../../protocol/runs/run-status.ts";
import { ADA, begin, engineOn, logOf, register, until } from "../../testing/engine.ts";
import { workbench } from "../../testing/workbench.ts";
import { workflow } from "../../testing/workflow.ts";
import { logicalInvocationId } from "../runs/effects.ts";
import { forkRun } from "../runs/fork-run.ts";
import { checkWorkflow } from "../workflows/check-workflow.ts";
import { NODE_TYPES } from "./all.ts";
import { sideEffect } from "./side-effect.ts";

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
