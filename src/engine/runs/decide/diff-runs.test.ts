import { describe, expect, test } from "vitest";
import type { RunEventDoc } from "../../../protocol/events.ts";
import { atOnce } from "../../../testing/at-once.ts";
import { diffEvents } from "./diff-runs.ts";

const EVENT: RunEventDoc = {
  eventId: "evt-01k4aaaaaaaaaaaaaaaaaaaaaa",
  runId: "run-01k4aaaaaaaaaaaaaaaaaaaaaa",
  type: "node.completed",
  nodeId: "draft",
  payload: { outputs: { text: "hello" } },
  timestamp: "2027-01-31T12:00:00.000Z",
  sequence: 3,
};

const differ = (...given: Parameters<typeof diffEvents>) => atOnce(diffEvents(...given));

describe("two events at one sequence", () => {
  test("say the same whatever their ids and times are", () => {
    const other = { eventId: "evt-01k4bbbbbbbbbbbbbbbbbbbbbb", runId: "run-01k4bbbbbbbbbbbbbbbbbbbbbb" };
    expect(differ(3, EVENT, { ...EVENT, ...other, timestamp: "2028-01-31T12:00:00.000Z" })).toBeUndefined();
  });

  test.each<[string, Partial<RunEventDoc>]>([
    ["type", { type: "node.skipped" }],
    ["node", { nodeId: "review" }],
    ["payload", { payload: { outputs: { text: "bye" } } }],
  ])("differ by their %s alone", (_, change) => {
    const changed = { ...EVENT, ...change };
    expect(differ(3, EVENT, changed)).toEqual({ seq: 3, op: "changed", aEvent: EVENT, bEvent: changed });
  });

  test("are added or removed where one is missing", () => {
    expect(differ(3, EVENT, undefined)).toEqual({ seq: 3, op: "removed", aEvent: EVENT });
    expect(differ(3, undefined, EVENT)).toEqual({ seq: 3, op: "added", bEvent: EVENT });
  });
});
