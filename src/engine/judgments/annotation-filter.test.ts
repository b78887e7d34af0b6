import { describe, expect, test } from "vitest";
import type { AnnotationFilter } from "../../protocol/judgments/annotation-api.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { isWanted, type Wanted, wantedBy } from "./annotation-filter.ts";

const AT = Date.parse("2027-03-01T12:00:00.000Z");

const RATING: AnnotationRecord = {
  annotationId: "ann-1",
  tenant: "t1",
  runId: "run-1",
  workflowId: "report",
  agentId: "writer",
  target: { nodeId: "draft" },
  aboutNode: "draft",
  signal: { kind: "rating", rating: 3, label: "aside" },
  actor: "ada",
  actorKind: "person",
  createdAtMs: AT,
  state: "live",
};
const FLAG: AnnotationRecord = { ...RATING, signal: { kind: "flag" }, flag: { status: "open" } };
const CLOSED: AnnotationRecord = { ...FLAG, flag: { status: "closed", by: "bo", atMs: AT, note: "seen" } };

function matches(filter: AnnotationFilter, annotation: AnnotationRecord): boolean {
  const wanted = wantedBy(filter);
  return wanted !== undefined && isWanted(wanted, annotation);
}

describe("a filter on annotations", () => {
  test.each<[AnnotationFilter, AnnotationFilter]>([
    [{ runId: "run-1" }, { runId: "run-2" }],
    [{ workflowId: "report" }, { workflowId: "other" }],
    [{ agentId: "writer" }, { agentId: "reader" }],
    [{ nodeId: "draft" }, { nodeId: "send" }],
    [{ signal: "rating" }, { signal: "flag" }],
    [{ actor: "ada" }, { actor: "bo" }],
    [{ actorKind: "person" }, { actorKind: "agent" }],
    [{ state: "live" }, { state: "retracted" }],
    [{ ratingMax: 3 }, { ratingMax: 2 }],
    [{ from: "2027-03-01T12:00:00Z" }, { from: "2027-03-01T12:00:00.001Z" }],
    [{ to: "2027-03-01T12:00:00.001Z" }, { to: "2027-03-01T12:00:00Z" }],
  ])("%j takes what %j leaves out", (takes, leavesOut) => {
    expect(matches(takes, RATING)).toBe(true);
    expect(matches(leavesOut, RATING)).toBe(false);
  });

  test("does not take a field for the signal that only accompanies it", () => {
    expect(matches({ label: "aside" }, RATING)).toBe(false);
    expect(matches({ label: "aside" }, { ...RATING, signal: { kind: "label", label: "aside" } })).toBe(true);
    expect(matches({ ratingMax: 5 }, { ...FLAG, signal: { kind: "flag", rating: 1 } })).toBe(false);
  });

  test("knows open flags from closed ones, and counts only live ones", () => {
    expect([FLAG, CLOSED, RATING].map((one) => matches({ flagged: "open" }, one))).toEqual([true, false, false]);
    expect([FLAG, CLOSED, RATING].map((one) => matches({ flagged: "true" }, one))).toEqual([true, false, false]);
    expect([FLAG, CLOSED, RATING].map((one) => matches({ flagged: "closed" }, one))).toEqual([false, true, false]);
    expect(matches({ flagged: "open" }, { ...FLAG, state: "retracted" })).toBe(false);
  });

  test.each<AnnotationFilter>([
    { signal: "rating", label: "pass" },
    { signal: "label", flagged: "open" },
    { label: "pass", ratingMax: 2 },
    { flagged: "open", state: "superseded" },
  ])("%j contradicts itself and asks for nothing", (filter) => {
    expect(wantedBy(filter)).toBeUndefined();
  });

  test.each(["yesterday, at noon or so", "2027-02-30T12:00:00Z"])("refuses %j as an instant", (from) => {
    expect(() => wantedBy({ from })).toThrow(/query\/from must be an instant/);
    expect(() => wantedBy({ to: from })).toThrow(/query\/to must be an instant/);
  });

  test("asks the store for no more than it was given", () => {
    expect(wantedBy({})).toEqual({} satisfies Wanted);
    expect(wantedBy({ flagged: "true" })).toEqual({ kind: "flag", flag: "open" } satisfies Wanted);
  });
});
