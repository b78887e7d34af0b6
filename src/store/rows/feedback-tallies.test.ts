import { describe, expect, test } from "vitest";
import { annotationOf, label, rating } from "../../testing/annotation-builders.ts";
import { startedRun } from "../../testing/builders.ts";
import type { AnnotationRecord } from "../port/judgments.ts";
import { tallyChanges, tallyRows } from "./feedback-tallies.ts";

const { run } = startedRun({ tenant: "t" });

function gone(annotation: AnnotationRecord): AnnotationRecord {
  return { ...annotation, state: "retracted" };
}

function step(before: AnnotationRecord | undefined, after: AnnotationRecord) {
  return { ...(before && { before }), after, changes: [], needsRun: true };
}

describe("tallies", () => {
  test("are of the run with all its nodes, and of each node, in the order of keys", () => {
    const { feedback, labels } = tallyRows([
      annotationOf(run, { signal: rating(5), aboutNode: "b" }),
      annotationOf(run, { signal: label("pass"), aboutNode: "a b" }),
      annotationOf(run, { signal: label("pass"), aboutNode: "a", actorKind: "agent" }),
    ]);
    expect(
      feedback.map(({ node_id, actor_kind, annotations, r5, passes }) => [
        node_id,
        actor_kind,
        annotations,
        r5,
        passes,
      ]),
    ).toEqual([
      ["", "agent", 1, 0, 1],
      ["", "person", 2, 1, 1],
      ["a", "agent", 1, 0, 1],
      ["a b", "person", 1, 0, 1],
      ["b", "person", 1, 1, 0],
    ]);
    expect(labels.map(({ node_id, label, n }) => [node_id, label, n])).toEqual([
      ["", "pass", 1],
      ["", "pass", 1],
      ["a", "pass", 1],
      ["a b", "pass", 1],
    ]);
  });

  test("count what the kind is about and no other field", () => {
    const signal = { kind: "flag", rating: 5, label: "pass", correction: "x" } as const;
    const { feedback, labels } = tallyRows([annotationOf(run, { signal })]);
    expect(feedback).toMatchObject([{ annotations: 1, flags: 1, r5: 0, passes: 0, corrections: 0 }]);
    expect(labels).toEqual([]);
  });

  test("of imported judgments are apart, whatever kind of actor they name", () => {
    const { feedback, labels } = tallyRows([
      annotationOf(run, { signal: rating(1) }),
      annotationOf(run, { signal: rating(5), importedBy: "sam" }),
      annotationOf(run, { signal: label("pass"), actorKind: "agent", importedBy: "sam" }),
    ]);
    expect(feedback).toMatchObject([
      { actor_kind: "imported", annotations: 2, r5: 1, passes: 1 },
      { actor_kind: "person", annotations: 1, r1: 1, r5: 0 },
    ]);
    expect(labels).toMatchObject([{ actor_kind: "imported", label: "pass", n: 1 }]);
  });

  test("change by what came and what went, and not at all where that is the same", () => {
    const [five, again, one] = [rating(5), rating(5), rating(1)].map((signal) => annotationOf(run, { signal }));
    if (!five || !again || !one) throw new Error("no annotations");
    expect(tallyChanges([step(undefined, again), step(five, gone(five))])).toEqual({ feedback: [], labels: [] });
    const { feedback } = tallyChanges([step(undefined, one), step(five, gone(five))]);
    expect(feedback).toMatchObject([{ annotations: 0, r1: 1, r5: -1 }]);
    expect(tallyRows([gone(five)]).feedback).toEqual([]);
  });
});
