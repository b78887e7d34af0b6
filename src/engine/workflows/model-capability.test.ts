import { describe, expect, test } from "vitest";
import { hostAfter, replayed, told } from "../../testing/forks.ts";
import { simulate } from "../../testing/simulate.ts";
import { workflow } from "../../testing/workflow.ts";
import { lackingModel } from "../host.ts";

const asks = workflow({ nodes: { ask: "conformance.modelCapability.insufficient" } });

describe("a node that asks more of a model than there is", () => {
  test("is refused before it begins, and what was missing is said first", () => {
    const { run, events, story } = simulate(asks).go();
    expect(story).toEqual(["run.started", "model.capability.insufficient:ask", "node.failed:ask", "run.failed"]);
    expect(events[1]?.payload).toEqual({
      nodeId: "ask",
      provider: "none",
      model: "none",
      missingCapabilities: ["nonexistent-capability-9b3f"],
      fallbackAttempted: false,
    });
    expect(run.error).toMatchObject({ code: "capability_not_provided" });
    expect(run.error?.message).toContain("nonexistent-capability-9b3f");
  });

  test("is refused by a replay in the same words", async () => {
    const source = simulate(asks).go();
    const { events } = await replayed(hostAfter(source.events), source.plan, source.events, 0);
    expect(told(events)).toEqual(told(source.events));
  });
});

test("a model lacks what it is asked for and cannot do, and nothing else", () => {
  const model = { provider: "acme", model: "m-1", capabilities: new Set(["reasoning"]) };
  expect(lackingModel(model, ["reasoning", "vision-input"])).toEqual({
    provider: "acme",
    model: "m-1",
    missingCapabilities: ["vision-input"],
  });
  expect(lackingModel(model, ["reasoning"])).toBeUndefined();
  expect(lackingModel(undefined, [])).toBeUndefined();
});
