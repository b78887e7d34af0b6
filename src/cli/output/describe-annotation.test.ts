import { expect, test } from "vitest";
import type { AnnotationView } from "../../protocol/judgments/annotation-api.ts";
import { actorText, signalText, targetText, wordsText } from "./describe-annotation.ts";

const VIEW: AnnotationView = {
  annotationId: "ann-1",
  target: { runId: "run-1" },
  signal: { kind: "rating", rating: 4 },
  actor: { principalRef: "ada" },
  createdAt: "2027-01-01T00:00:00.000Z",
  workflowId: "report",
  actorKind: "person",
  state: "live",
};

test("people are named alone, others with what they are", () => {
  expect(actorText("ada", "person")).toBe("ada");
  expect(actorText("critic", "agent")).toBe("critic (agent)");
  expect(actorText("lint", "code")).toBe("lint (code)");
});

test("a state is shown only where it is not live", () => {
  expect(signalText(VIEW)).toBe("rating 4");
  expect(signalText({ ...VIEW, state: "superseded" })).toBe("rating 4, superseded");
  expect(signalText({ ...VIEW, signal: { kind: "label", label: "pass" }, state: "retracted" })).toBe(
    "label pass, retracted",
  );
  expect(signalText({ ...VIEW, signal: { kind: "flag" }, flag: { status: "open" } })).toBe("flag");
  expect(signalText({ ...VIEW, signal: { kind: "flag" }, flag: { status: "closed" } })).toBe("flag, closed");
  expect(signalText({ ...VIEW, actorKind: "agent", confidence: 0.7 })).toBe("rating 4, sure 0.7");
});

test("the run is left out where it is known", () => {
  expect(targetText(VIEW, false)).toBe("run");
  expect(targetText(VIEW, true)).toBe("run-1");
  const node = { ...VIEW, target: { runId: "run-1", nodeId: "draft", eventId: "evt-1" } };
  expect(targetText(node, false)).toBe("node draft event evt-1");
  expect(targetText(node, true)).toBe("run-1 node draft event evt-1");
});

test("what others wrote is one line that cannot do anything to a terminal", () => {
  const signal = { kind: "correction", correction: "one\ntwo\u001b[31m" } as const;
  expect(wordsText({ ...VIEW, signal, note: "odd" })).toBe("odd | should be: one two\ufffd[31m");
  const retraction = { by: "ada", at: "then", reason: "mistaken" };
  expect(wordsText({ ...VIEW, retraction })).toBe("retracted: mistaken");
});
