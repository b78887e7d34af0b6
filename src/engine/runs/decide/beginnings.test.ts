import { expect, test } from "vitest";
import type { RunEvent } from "../../../protocol/events.ts";
import { sourceRun } from "../../../testing/branches.ts";
import { beginnings, lettingGo } from "./beginnings.ts";

const { plan } = sourceRun({ nodes: { first: "core.noop", gate: "core.approvalGate", act: "test.acts" } });

/** A log with these events from sequence 1 on, each `type:id`. */
function logOf(...stories: string[]): RunEvent[] {
  return ["run.started:", ...stories].map((story, sequence) => {
    const [type, nodeId] = story.split(":");
    return { type, nodeId, sequence, payload: { nodeId, interruptId: `asked-${sequence}` } } as unknown as RunEvent;
  });
}

test("a node that is started again before its end began where it was started first", () => {
  const log = logOf("node.started:gate", "node.retried:gate", "node.started:gate", "interrupt.requested:gate");
  expect(beginnings(plan, log, []).of("asked-4")).toEqual({ sequence: 1, actsLater: false });
});

test("a node that was under way at a point began at its last start before that point", () => {
  const round = ["node.started:gate", "node.completed:gate"];
  const begins = beginnings(plan, logOf(...round, ...round, ...round), []);
  expect([2, 4, 5, 6].map((before) => begins.ofNode("gate", before).sequence)).toEqual([1, 3, 3, 5]);
});

test("a run that ends lets go of its nodes before the last invocations of its agents are over", () => {
  const ends = ["node.cancelled:gate", "node.cancelled:first", "agent.invocation.completed:first"];
  expect(lettingGo(logOf("node.started:gate", ...ends))).toBe(2);
  expect(lettingGo(logOf("node.cancelled:gate", "node.started:first"))).toBeUndefined();
});
