import { describe, expect, test } from "vitest";
import type { RunSnapshot } from "../../protocol/runs/snapshot.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { showRun } from "./show.ts";

const NOW = Date.parse("2027-03-01T12:00:00.000Z");
const shown = (run: Partial<RunSnapshot>) => {
  const text = showRun({ runId: "run-1", workflowId: "release", status: "running", ...run }, recordedIo(), NOW);
  return text.split("\n").map((line) => line.replace(/ {2,}/g, " "));
};

describe("a run shown to people", () => {
  test("names its parent and the node there", () => {
    expect(shown({ parentRunId: "run-0", parentNodeId: "call" })).toContain("Parent run-0 (node call)");
  });

  test("names the run it was forked from, where, and because of what", () => {
    const forkedFrom = { runId: "run-0", fromSeq: 12 };
    expect(shown({ metadata: { forkedFrom } })).toContain("Forked from run-0 at sequence 12");
    expect(shown({ metadata: { forkedFrom: { ...forkedFrom, motivatedBy: "ann-1" } } })).toContain(
      "Forked from run-0 at sequence 12, because of ann-1",
    );
    expect(shown({ metadata: { forkedFrom: "of my own" } }).join("\n")).not.toContain("Forked");
  });

  test("names the run that a gate was decided for, where it keeps the decision of another run", () => {
    const gate = { status: "completed", attempt: 0, decidedFor: "run-0" };
    expect(shown({ nodeStates: { gate } })).toContain("gate completed 1 decided for run run-0");
  });

  test("names the tape it came as, when it did", () => {
    const metadata = { tape: { name: "night.tape", digest: "ab" } };
    expect(shown({ workflowId: "recorded-tape", metadata })).toContain("Came as tape night.tape, digest ab");
    expect(shown({ metadata }).join("\n")).not.toContain("Came as");
  });

  test("lists its children with what they are now", () => {
    const childRuns = [{ runId: "run-2", status: "waiting-approval", workflowId: "review", nodeId: "call" } as const];
    expect(shown({ childRuns }).slice(-2)).toEqual([
      "CHILD RUN STATUS WORKFLOW OF NODE",
      "run-2 waiting-approval review call",
    ]);
  });

  test("says which decision a branch does not keep, of which run, and what the branch changed", () => {
    const gate = (data: object) => {
      const view = {
        nodeId: "gate",
        interruptId: "int-1",
        kind: "approval",
        key: "gate:0",
        data: { ...data },
      } as const;
      return shown({ interrupts: [{ runId: "run-1", requestedAt: "2027-03-01T11:58:00.000Z", ...view }] }).slice(4);
    };
    const branch = { changedOptions: ["inputs.text", "configurable.\u001b[2J"] };
    const previous = { interruptId: "int-0", outcome: "granted", decidedBy: "ada", decidedFor: "run-0", changes: [] };
    const changed =
      "changed in this branch: inputs.text, configurable.\ufffd[2J; nodes before the gate ran with the earlier values";
    const asks = "asks again, granted by ada for run run-0";
    expect(gate({ previous }).at(-1)).toBe(`gate: ${asks}`);
    expect(gate({ branch }).at(-1)).toBe(`gate: ${changed}`);
    expect(gate({ previous: { ...previous, ...branch }, branch }).at(-1)).toBe(`gate: ${asks}; ${changed}`);
    // A gate of a loop that asks once more is no gate of a branch.
    expect(gate({ previous: { interruptId: "int-0", outcome: "refined" } }).at(-1)).not.toContain("gate:");
  });

  test("lists what it waits for, how many have agreed, and until when", () => {
    const interrupt = {
      runId: "run-1",
      nodeId: "gate",
      interruptId: "int-1",
      kind: "approval",
      key: "gate:0",
      data: { title: "Ship it?" },
      requestedAt: "2027-03-01T11:58:00.000Z",
      deadline: "2027-03-01T13:00:00.000Z",
      tally: { granted: 1, rejected: 0, humans: 1, required: 2 },
    } as const;
    expect(shown({ interrupts: [interrupt] }).slice(-2)).toEqual([
      "WAITS AT FOR VOTES SINCE UNTIL INTERRUPT",
      "gate approval 1/2 2m ago 2027-03-01T13:00:00.000Z int-1 Ship it?",
    ]);
  });

  test("says nothing of what it has not", () => {
    const text = shown({}).join("\n");
    for (const heading of ["Parent", "CHILD RUN", "WAITS AT"]) expect(text).not.toContain(heading);
  });
});
