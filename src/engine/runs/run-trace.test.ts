import { describe, expect, test } from "vitest";
import type { RunEventDoc } from "../../protocol/events.ts";
import { RunSpans } from "./run-trace.ts";

function spansOf(...events: (readonly [type: string, payload?: object])[]) {
  const seen = new RunSpans({ runId: "run-1" });
  events.forEach(([type, payload = {}], sequence) => {
    const timestamp = new Date(Date.UTC(2027, 0, 1, 0, 0, sequence)).toISOString();
    seen.see({ eventId: `evt-${sequence}`, runId: "run-1", type, payload, timestamp, sequence } as RunEventDoc);
  });
  return seen.spans.map(({ name, startedAt, endedAt, status }) => {
    const second = (at: string | undefined) => (at === undefined ? "open" : new Date(at).getUTCSeconds());
    return [name, second(startedAt), second(endedAt), status.code];
  });
}

const START = ["run.started", { workflowId: "w" }] as const;
const a = (type: string, more: object = {}) => [type, { nodeId: "a", typeId: "core.noop", ...more }] as const;

describe("the spans of a log", () => {
  test("are one for each attempt, which ends with it", () => {
    expect(
      spansOf(START, a("node.started"), a("node.retried"), a("node.started", { attempt: 2 }), a("node.completed"), [
        "run.completed",
      ]),
    ).toEqual([
      ["openwop.run", 0, 5, "ok"],
      ["openwop.node.core.noop", 1, 2, "error"],
      ["openwop.node.core.noop", 3, 4, "ok"],
    ]);
  });

  test("last as long as a node waits", () => {
    expect(spansOf(START, a("node.started"), a("node.suspended"), a("node.resumed"))).toEqual([
      ["openwop.run", 0, "open", "unset"],
      ["openwop.node.core.noop", 1, "open", "unset"],
    ]);
  });

  test("all end with the run", () => {
    expect(spansOf(START, a("node.started"), ["run.cancelled"])).toEqual([
      ["openwop.run", 0, 2, "unset"],
      ["openwop.node.core.noop", 1, 2, "unset"],
    ]);
    expect(spansOf(START, a("node.started"), a("node.failed"), ["run.failed"])).toEqual([
      ["openwop.run", 0, 3, "error"],
      ["openwop.node.core.noop", 1, 2, "error"],
    ]);
  });

  test("of nodes end with a pause that cuts them short, and not with one that lets them finish", () => {
    expect(spansOf(START, a("node.started"), ["run.paused", { drainPolicy: "immediate" }])).toEqual([
      ["openwop.run", 0, "open", "unset"],
      ["openwop.node.core.noop", 1, 2, "unset"],
    ]);
    expect(spansOf(START, a("node.started"), ["run.paused", { drainPolicy: "drain-current-node" }])[1]?.[2]).toBe(
      "open",
    );
  });

  test("hold ids and numbers, and no content", () => {
    const seen = new RunSpans({ runId: "run-1" });
    const base = { eventId: "e", runId: "run-1", timestamp: "2027-01-01T00:00:00.000Z" };
    seen.see({
      ...base,
      type: "run.started",
      sequence: 0,
      payload: { workflowId: "w", inputs: { a: "content" } },
    } as never);
    seen.see({ ...base, type: "node.started", sequence: 1, payload: { nodeId: "a", attempt: 3 } } as never);
    expect(seen.spans.map(({ attributes }) => attributes)).toEqual([
      { "openwop.run_id": "run-1", "openwop.workflow_id": "w" },
      { "openwop.run_id": "run-1", "openwop.node_id": "a", "openwop.attempt": 3 },
    ]);
    expect(JSON.stringify(seen.spans)).not.toContain("content");
  });
});
