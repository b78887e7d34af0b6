import { describe, expect, test } from "vitest";
import type { EventDraft, RunEvent } from "../../protocol/events.ts";
import { nodeCompleted, nodeStarted, runCompleted } from "../../testing/builders.ts";
import { divergenceOf } from "./divergence.ts";

const recorded = (draft: EventDraft) => draft as RunEvent;

describe("what a replay comes to", () => {
  test("is the same whatever the order of its fields", () => {
    const again: EventDraft = {
      type: "node.completed",
      nodeId: "a",
      payload: { outputs: { said: "hello" }, nodeId: "a" },
    };
    expect(divergenceOf(recorded(nodeCompleted()), again)).toBeUndefined();
  });

  test.each([
    ["output", nodeStarted(), { ...nodeStarted(), payload: { nodeId: "a", typeId: "core.noop", attempt: 1 } }],
    ["type-mismatch", nodeStarted("a"), nodeStarted("b")],
    ["type-mismatch", nodeStarted(), nodeCompleted()],
    ["missing", nodeStarted(), runCompleted()],
    ["extra", runCompleted(), nodeStarted()],
  ])("differs by %s", (kind, original, again) => {
    expect(divergenceOf(recorded(original), again as EventDraft)).toBe(kind);
  });
});
