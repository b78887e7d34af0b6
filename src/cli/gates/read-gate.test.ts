import { expect, test } from "vitest";
import { gateText } from "./read-gate.ts";

const VIEW = {
  runId: "run-1",
  nodeId: "gate",
  interruptId: "int-1",
  kind: "approval",
  key: "k",
  data: { title: "Publish?", artifactData: { text: "[REDACTED]" } },
  requestedAt: "2027-01-01T00:00:00.000Z",
} as const;

test("a gate at a terminal says that parts of it are hidden from voters, and only then", () => {
  expect(gateText({ ...VIEW, hidden: true })).toMatch(
    /^Publish\? .*\nparts of this are kept secret: .*no voter can read it\n/,
  );
  expect(gateText(VIEW)).not.toContain("kept secret");
});
