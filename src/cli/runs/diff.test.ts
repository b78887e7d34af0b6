import { describe, expect, test } from "vitest";
import type { RunDiffResponse } from "../../protocol/runs/fork-api.ts";
import { paintFor } from "../output/io.ts";
import { showDiff } from "./diff.ts";

const SAME: RunDiffResponse = { a: "run-1", b: "run-2", divergedAtSeq: null, eventDiffs: [], stateDiff: {} };
const shown = (diff: Partial<RunDiffResponse>, columns = Number.POSITIVE_INFINITY) =>
  showDiff({ ...SAME, ...diff }, paintFor(false), columns).split("\n");

const event = (type: string, payload: unknown, nodeId?: string) => ({
  eventId: "evt-1",
  runId: "run-1",
  type,
  payload,
  timestamp: "2027-03-01T12:00:00.000Z",
  sequence: 3,
  ...(nodeId === undefined ? {} : { nodeId }),
});

describe("a diff shown to people", () => {
  test("of runs that do not differ says so", () => {
    expect(shown({})).toEqual(["--- run-1", "+++ run-2", "Nothing differs."]);
  });

  test("has a line for each side of each difference", () => {
    const aEvent = event("node.completed", { outputs: { n: 1 } }, "add");
    const bEvent = event("node.failed", {}, "add");
    const lines = shown({
      divergedAtSeq: 3,
      eventDiffs: [
        { seq: 3, op: "changed", aEvent, bEvent },
        { seq: 4, op: "added", bEvent: event("run.failed", {}) },
      ],
      stateDiff: { status: { a: "completed", b: "failed" }, variables: { n: { a: 1 } }, channels: { log: { b: [] } } },
    });
    expect(lines.slice(2)).toEqual([
      "They differ from sequence 3 on.",
      "@@ 3 @@",
      '- node.completed  add  {"outputs":{"n":1}}',
      "+ node.failed  add  {}",
      "@@ 4 @@",
      "+ run.failed  {}",
      "@@ status @@",
      '- "completed"',
      '+ "failed"',
      "@@ variable n @@",
      "- 1",
      "@@ channel log @@",
      "+ []",
    ]);
  });

  test("is cut to the width of a terminal, cannot change it, and says when there is more", () => {
    const aEvent = event("odd\u001b[31m", { text: "x".repeat(100) });
    const lines = shown({ divergedAtSeq: 0, eventDiffs: [{ seq: 0, op: "removed", aEvent }], truncated: true }, 20);
    expect(lines[4]).toHaveLength(20);
    expect(lines.join("")).not.toContain("\u001b");
    expect(lines.at(-1)).toMatch(/^Not everything was compared/);
  });
});
