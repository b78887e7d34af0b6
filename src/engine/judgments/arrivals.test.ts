import { describe, expect, test } from "vitest";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { type Arriving, arrivalsOf } from "./arrivals.ts";

const ID = (n: number) => `ann-${String(n).padStart(26, "0")}`;

function record(n: number, more: Partial<AnnotationRecord> = {}): AnnotationRecord {
  return {
    annotationId: ID(n),
    tenant: "t1",
    runId: "run-1",
    workflowId: "greet",
    target: {},
    signal: { kind: "rating", rating: 3 },
    actor: "ada",
    actorKind: "person",
    createdAtMs: n * 1000,
    state: "live",
    importedBy: "eve",
    ...more,
  };
}

const RETRACTION = { by: "ada", atMs: 9000, reason: "mistaken" };
const CLOSED = { status: "closed", by: "ben", atMs: 8000, note: "looked into" } as const;
const flag = (n: number, more: Partial<AnnotationRecord> = {}) =>
  record(n, { signal: { kind: "flag" }, flag: { status: "open" }, ...more });
const superseded = (by: number): Partial<AnnotationRecord> => ({
  state: "superseded",
  supersededBy: ID(by),
  supersededAtMs: by * 1000,
});
const retracted = { state: "retracted", retraction: RETRACTION } as const;

const asIs = (text: string) => text;
const hushed = (text: string) => text.replaceAll("secret", "[REDACTED]");

function arrive(records: readonly AnnotationRecord[], stored: readonly AnnotationRecord[] = [], scrub = asIs) {
  const lines = records.map((one, i): Arriving => ({ line: i + 2, record: one }));
  return arrivalsOf(lines, stored, scrub);
}

describe("judgments that arrive", () => {
  test("are taken as they are when nobody knows them", () => {
    const old = record(1, retracted);
    expect(arrive([old, record(2)])).toEqual({
      answer: { imported: 2, updated: 0, unchanged: 0, refused: [] },
      writes: [
        { type: "import", annotation: old },
        { type: "import", annotation: record(2) },
      ],
    });
  });

  test("change nothing when they are here already, whoever brought them", () => {
    const { importedBy: _, ...own } = record(1);
    const { answer, writes } = arrive([record(1), record(2)], [own, record(2, { importedBy: "max" })]);
    expect(answer).toEqual({ imported: 0, updated: 0, unchanged: 2, refused: [] });
    expect(writes).toEqual([]);
  });

  const newer: readonly (readonly [string, AnnotationRecord, AnnotationRecord])[] = [
    ["was replaced", record(1), record(1, superseded(5))],
    ["was withdrawn", record(1), record(1, retracted)],
    ["is a flag that was closed", flag(1), flag(1, { flag: CLOSED })],
    ["is a flag that was closed and withdrawn", flag(1), flag(1, { flag: CLOSED, ...retracted })],
  ];
  test.each(newer)("bring one up to date that %s since, and never take it back", (_, older, later) => {
    const { answer, writes } = arrive([later], [older]);
    expect(answer).toEqual({ imported: 0, updated: 1, unchanged: 0, refused: [] });
    expect(writes).toEqual([{ type: "import", annotation: later, earlier: older }]);
    expect(arrive([older], [later])).toEqual({
      answer: { imported: 0, updated: 0, unchanged: 1, refused: [] },
      writes: [],
    });
  });

  test("add to what is known, each their own part", () => {
    const { writes } = arrive([flag(1, retracted)], [flag(1, { flag: CLOSED })]);
    expect(writes.map(({ annotation }) => annotation)).toEqual([flag(1, { flag: CLOSED, ...retracted })]);
  });

  const others: readonly (readonly [string, AnnotationRecord, AnnotationRecord])[] = [
    ["of another rating", record(1), record(1, { signal: { kind: "rating", rating: 4 } })],
    ["with another note", record(1, { note: "a" }), record(1, { note: "b" })],
    ["by somebody else", record(1), record(1, { actor: "ben" })],
    ["by a machine", record(1), record(1, { actorKind: "code" })],
    ["of another time", record(1), record(1, { createdAtMs: 1001 })],
    ["on another run", record(1), record(1, { runId: "run-2" })],
    ["about a node", record(1), record(1, { target: { nodeId: "a" }, aboutNode: "a" })],
    ["in another workspace", record(1, { workspace: "west" }), record(1, { workspace: "east" })],
    ["replaced by another", record(1, superseded(5)), record(1, superseded(6))],
    ["withdrawn, not replaced", record(1, superseded(5)), record(1, retracted)],
    ["withdrawn by another", record(1, retracted), record(1, { ...retracted, retraction: { ...RETRACTION, by: "x" } })],
    ["closed by another", flag(1, { flag: CLOSED }), flag(1, { flag: { ...CLOSED, by: "x" } })],
  ];
  test.each(others)("are refused when one with the same id is here and this one is %s", (_, here, other) => {
    const { answer, writes } = arrive([record(7), other], [here]);
    expect(answer).toMatchObject({ imported: 1, updated: 0, refused: [{ line: 3 }] });
    expect(writes).toEqual([{ type: "import", annotation: record(7) }]);
  });

  test("are one judgment, also where one of the two holds what is taken out by now", () => {
    const here = record(1, { note: "the secret", signal: { kind: "rating", rating: 3 } });
    const clean = record(1, { note: "the [REDACTED]" });
    expect(arrive([clean], [here], hushed).answer).toMatchObject({ unchanged: 1, refused: [] });
    expect(arrive([clean], [here]).answer).toMatchObject({ unchanged: 0, refused: [{ line: 2 }] });
  });

  test("may come twice in one go, older and newer in either order, and are written once", () => {
    for (const order of [
      [flag(1), flag(1, { flag: CLOSED })],
      [flag(1, { flag: CLOSED }), flag(1)],
    ]) {
      const { answer, writes } = arrive(order);
      expect(answer).toMatchObject({ imported: 1, refused: [] });
      expect(writes).toEqual([{ type: "import", annotation: flag(1, { flag: CLOSED }) }]);
    }
  });

  test("end the life of what they replace, also where that did not come along", () => {
    const replacing = record(2, { supersedes: ID(1) });
    expect(arrive([replacing], [record(1)]).writes).toEqual([
      { type: "import", annotation: record(1, superseded(2)), earlier: record(1) },
      { type: "import", annotation: replacing },
    ]);
    expect(arrive([replacing]).answer).toMatchObject({ imported: 1 });
    // Whoever was there first may tell another time of it.
    const told = record(1, { ...superseded(2), supersededAtMs: 2001 });
    expect(arrive([told], [record(1, superseded(2))]).answer).toMatchObject({ unchanged: 1 });
  });

  test("are refused when they replace what is not theirs", () => {
    const replacing = record(2, { supersedes: ID(1) });
    for (const not of [{ actor: "ben" }, { runId: "run-2" }, { workspace: "west" }]) {
      const { answer, writes } = arrive([replacing], [record(1, not)]);
      expect(answer).toMatchObject({ imported: 0, refused: [{ line: 2 }] });
      expect(writes).toEqual([]);
    }
  });

  test("are counted apart from lines that were none", () => {
    const { answer } = arrivalsOf([{ line: 9, problem: "it is not JSON" }], [], asIs);
    expect(answer).toEqual({
      imported: 0,
      updated: 0,
      unchanged: 0,
      refused: [{ line: 9, problem: "it is not JSON" }],
    });
  });
});
