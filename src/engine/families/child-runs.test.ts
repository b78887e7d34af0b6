import { describe, expect, test } from "vitest";
import { evolveChildren } from "../../protocol/evolve/children.ts";
import type { Child, Run } from "../../protocol/runs/run.ts";
import { NOW, newTenant, next, runCompleted, startedRun } from "../../testing/builders.ts";
import { workflow } from "../../testing/workflow.ts";
import type { Host } from "../host.ts";
import { subWorkflow } from "../nodes/sub-workflow.ts";
import { LARGEST_RUN } from "../runs/run-size.ts";
import type { EffectContext } from "../worker/node-type.ts";
import { makePlan } from "../workflows/decide/plan.ts";
import { childEnded } from "./child-runs.ts";

const tenant = newTenant();
const plan = makePlan("hash", workflow({ nodes: { only: "core.noop" } }));
const host = { plans: { byHash: async () => plan } } as unknown as Host;
const started = startedRun({ tenant, inputs: { answer: 42, unasked: "very long" } });
const child: Run = next(started, NOW, runCompleted()).run;
const link: Child = {
  nodeId: "call",
  visit: 0,
  workflowId: "child",
  status: "pending",
  waits: true,
  propagates: true,
  takes: ["answer", "absent"],
};

const parentHolding = (size: number): Run => ({
  ...startedRun({ tenant }).run,
  variables: { held: "x".repeat(size) },
  children: { [child.runId]: link },
});

/** What the node makes of it. */
async function outcome(parent: Run, ended = child, config: object = {}) {
  const draft = await childEnded(host, parent, link, ended);
  const event = { ...draft, eventId: "evt-1", runId: parent.runId, sequence: 1, timestamp: "" };
  const children = evolveChildren(parent.children, event as never, 0);
  const context = { node: { id: "call" }, config, inputs: {}, run: { ...parent, children } };
  return subWorkflow.execute(context as unknown as EffectContext);
}

describe("the end of a child", () => {
  test("tells its parent what it asked for and no more", async () => {
    const { payload } = await childEnded(host, parentHolding(1), link, child);
    expect(payload).toEqual({
      nodeId: "call",
      childRunId: child.runId,
      status: "completed",
      outputs: {},
      variables: { answer: 42 },
    });
  });

  test("fails its node where the parent has no room for what it brings", async () => {
    expect(await outcome(parentHolding(1))).toMatchObject({ type: "completed" });
    // A parent that an earlier version let grow larger still takes what is small.
    expect(await outcome(parentHolding(LARGEST_RUN))).toMatchObject({ type: "completed" });
    const bringsMuch = { ...child, variables: { answer: "x".repeat(50_000) } };
    expect(await outcome(parentHolding(LARGEST_RUN), bringsMuch)).toMatchObject({
      type: "failed",
      error: { code: "run_too_large", details: { childRunId: child.runId } },
    });
  });
});
