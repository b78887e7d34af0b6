import { describe, expect, test } from "vitest";
import { EVENTS, type RunEventDoc } from "../../protocol/events.ts";
import { GATE_EVENTS } from "../../protocol/gates/events.ts";
import { recordedIo } from "../../testing/recorded-io.ts";
import { describeEvent, inheritedDecisions } from "./describe-event.ts";

function line(type: string, payload: object, nodeId = "gate"): string {
  const event: RunEventDoc = {
    eventId: "evt-1",
    runId: "run-1",
    sequence: 1,
    timestamp: "2027-03-01T12:00:00.000Z",
    type,
    nodeId,
    payload,
  };
  return describeEvent(event, recordedIo(), 200).replace(/ {2,}/g, "  ");
}

const LINES: readonly (readonly [keyof typeof GATE_EVENTS, object, string])[] = [
  ["interrupt.requested", { kind: "approval", data: { title: "Ship it?" } }, "approval Ship it?"],
  ["interrupt.requested", { kind: "external-event", data: { eventType: "paid" } }, "external-event paid"],
  ["interrupt.resolved", { outcome: "granted", resolvedBy: "ana" }, "granted by ana"],
  ["interrupt.resolved", { outcome: "rejected", reason: "timeout" }, "rejected: timeout"],
  ["approval.requested", { title: "Ship it?", actions: ["accept", "reject"] }, "Ship it? (accept, reject)"],
  ["approval.received", { action: "reject", decidedBy: "ana", feedback: "too soon" }, "reject by ana: too soon"],
  ["approval.granted", { principal: "ana", quorumProgress: { granted: 1, required: 2 } }, "by ana (1 of 2)"],
  ["approval.rejected", { principal: "ana", reason: "too soon" }, "by ana: too soon"],
  ["approval.overridden", { principal: "ana", reason: "the house is on fire" }, "by ana: the house is on fire"],
  ["clarification.requested", { questions: [{ question: "Which?" }, { question: "Why?" }] }, "Which? Why?"],
  ["clarification.resolved", { answers: { q1: "blue" }, answeredBy: "ana" }, '{"q1":"blue"} by ana'],
  [
    "authorization.decided",
    { principal: "sam", action: "approvals:respond", resource: "interrupt:int-1", allowed: false, reason: "no role" },
    "sam may not approvals:respond interrupt:int-1: no role",
  ],
  ["node.suspended", { kind: "approval", interruptId: "int-1" }, "waits for approval int-1"],
  ["node.resumed", { resumeValue: { action: "accept" } }, '{"action":"accept"}'],
  ["node.dispatched", { childRunId: "run-2", childWorkflowId: "review" }, "review as run-2"],
  ["assay.vote.recorded", { voter: "ana", principal: "ana", action: "accept" }, "accept of ana"],
  [
    "assay.vote.recorded",
    { voter: "ana", principal: "desk", action: "reject", replaces: "accept", reason: "I misread" },
    "reject of ana through desk, instead of accept: I misread",
  ],
  ["assay.gate.asked", { by: "ana", text: "Since when?" }, "ana: Since when?"],
  ["assay.starter.added", { principal: "ana" }, "ana asks for the same"],
  ["assay.resume.taken", {}, ""],
  ["assay.child.started", { childRunId: "run-2", waits: true, propagates: true }, "run-2"],
  ["assay.child.started", { childRunId: "run-2", waits: false, propagates: false }, "run-2, not waited for, detached"],
  ["assay.child.changed", { childRunId: "run-2", status: "waiting-approval" }, "run-2 is waiting-approval"],
  [
    "assay.child.ended",
    { childRunId: "run-2", status: "failed", error: { message: "no ink" } },
    "run-2 is failed: no ink",
  ],
];

describe("the line about an event", () => {
  test.each(LINES)("of type %s tells what matters (%j)", (type, payload, said) => {
    expect(line(type, payload)).toBe(
      `12:00:00.000  ${type}  gate${said === "" ? "" : `  ${said}`}`.replace(/ {2,}/g, "  "),
    );
  });

  test("of a branch names the gates that ask again, and the options that changed", () => {
    const payload = { nodeIds: ["gate"], reopens: ["gate"], changes: ["inputs.text"], inputs: { text: "other" } };
    expect(line("assay.branch.began", payload)).toContain(
      'asks again at gate; changed inputs.text; {"nodeIds":["gate"],"inputs":{"text":"other"}}',
    );
  });

  test("of a decision that a fork repeats names the run it was decided for", () => {
    const decidedFor = inheritedDecisions();
    const event = (runId: string, type: string, payload: object): RunEventDoc => ({
      ...{ eventId: "evt-1", sequence: 1, timestamp: "2027-03-01T12:00:00.000Z", nodeId: "gate" },
      ...{ runId, type, payload },
    });
    const resolved = event("run-2", "interrupt.resolved", { interruptId: "int-1", outcome: "granted" });
    expect(decidedFor(event("run-2", "interrupt.requested", { interruptId: "int-1", runId: "run-1" }))).toBeUndefined();
    expect(decidedFor(event("run-2", "interrupt.requested", { interruptId: "int-2", runId: "run-2" }))).toBeUndefined();
    expect(decidedFor(resolved)).toBe("run-1");
    expect(decidedFor({ ...resolved, payload: { interruptId: "int-2" } })).toBeUndefined();
    expect(describeEvent(resolved, recordedIo(), 200, "run-1")).toContain("decided for run run-1; granted");
  });

  test("exists for every event of gates and sub-workflows", () => {
    expect([...new Set(LINES.map(([type]) => type))].sort()).toEqual(Object.keys(GATE_EVENTS).sort());
  });

  test.each([
    [{ cancelledBy: "ana", reason: "no longer needed" }, "by ana: no longer needed"],
    [{ cancelledBy: "ana" }, "by ana"],
    [{ reason: "parent-cancelled", parentRunId: "run-2", parentNodeId: "check" }, "parent-cancelled"],
  ])("of type run.cancelled tells who and why (%j)", (payload, said) => {
    expect(line("run.cancelled", payload)).toBe(`12:00:00.000  run.cancelled  gate  ${said}`);
  });

  test("has its columns in one place for every type of the protocol", () => {
    const event = { eventId: "evt-1", runId: "run-1", sequence: 1, timestamp: "2027-03-01T12:00:00.000Z" };
    const columns = Object.keys(EVENTS)
      // Seldom seen, and some are longer than a column should be.
      .filter((type) => !/^(?:assay|core)\./.test(type))
      .map((type) =>
        describeEvent({ ...event, type, nodeId: "gate", payload: {} }, recordedIo(), 200).lastIndexOf("gate"),
      );
    expect(new Set(columns).size).toBe(1);
  });

  test("of a recorded run tells which record it is, and what it says", () => {
    const kind = { kind: "process_spawn", program: "make", args: ["all"], cwd: null, exit_code: 2, duration_ms: 40 };
    const output = { content_hash: "ab", text: "" };
    const record = { seq: "18446744073709551615", phase: "user_script", virtual_time_ms: 0, monotonic_ms: 0 };
    const payload = { ...record, kind: { ...kind, stdout_payload: output, stderr_payload: output } };
    const said = line("assay.tape.record", payload);
    expect(said).toContain("#18446744073709551615  process_spawn  make all → exit 2, 40 ms");
    expect(line("assay.tape.record", { seq: "x" })).toContain('{"seq":"x"}');
  });

  test("does not break on a payload that is not what it should be", () => {
    for (const type of Object.keys(GATE_EVENTS))
      for (const payload of [{}, { data: 1, questions: [1, null] }]) line(type, payload);
  });

  test("cannot be used to write to the terminal", () => {
    const written = line("interrupt.requested", { kind: "approval", data: { title: "\u001b[2Jgone\u202e" } });
    for (const char of ["\u001b", "\u202e"]) expect(written).not.toContain(char);
  });
});
