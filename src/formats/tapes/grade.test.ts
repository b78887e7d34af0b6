import { describe, expect, test } from "vitest";
import { aRow } from "../../testing/tape-files.ts";
import { type GradedBy, type GradedFile, gradesOf, VerdictRows } from "./grade.ts";
import type { Row } from "./sidecar/sidecar.ts";

const FILE: GradedFile = { path: "a.tape.annotations.jsonl", tape: "a.tape", persona: "pump.harn" };

function verdictsOf(rows: readonly Partial<Row>[], file = FILE) {
  const reader = new VerdictRows();
  for (const row of rows) reader.add(aRow(row));
  return reader.verdicts(file);
}
const grade = (rows: readonly Partial<Row>[], by: GradedBy = "persona") => gradesOf(verdictsOf(rows), by);

const correct = (event: number, more: Partial<Row> = {}) => ({
  event_id: BigInt(event),
  kind: "correct" as const,
  ...more,
});
const incorrect = (event: number, more: Partial<Row> = {}) => ({ ...correct(event, more), kind: "incorrect" as const });
const by = (id: string | null, kind: "human" | "agent" | "system" = "human") => ({
  author: { id, kind, surface: null },
});
const instead = (id: string) => ({ metadata: new Map([["supersedes", id]]) });

describe("a grade", () => {
  test("is the share of correct events, with an interval", () => {
    const { total } = grade([correct(1), correct(2), correct(3), incorrect(4), { kind: "note" }]);
    expect(total).toMatchObject({ correct: 3, incorrect: 1, rate: 0.75, judgments: 4 });
    expect(total.interval?.low).toBeCloseTo(0.3006, 4);
    expect(total.interval?.high).toBeCloseTo(0.9544, 4);
  });

  test("counts an event once, however many say the same", () => {
    expect(grade([correct(1), correct(1), incorrect(2)]).total).toMatchObject({ rate: 0.5, judgments: 3 });
  });

  test("is none where nothing was judged", () => {
    const { total, groups } = grade([{ kind: "note" }, { kind: "unknown" }]);
    expect(total).toMatchObject({ correct: 0, incorrect: 0, rate: null, interval: null, judgments: 0 });
    expect(groups).toEqual([]);
  });

  test("leaves out an event that was judged both ways, and lists it", () => {
    const { total } = grade([correct(1, { id: "x" }), incorrect(1, { id: "y" }), incorrect(1), correct(2)]);
    expect(total).toMatchObject({ correct: 1, incorrect: 0, disputed: 1, rate: 1 });
    expect(total.disputes).toEqual([{ path: FILE.path, eventId: 1n, correct: ["x"], incorrect: ["y", "ann@event_1"] }]);
  });

  test("goes by the newest row of a chain", () => {
    const chain = [correct(1, { id: "x" }), incorrect(1, { id: "y", ...instead("x") })];
    expect(grade(chain).total).toMatchObject({ correct: 0, incorrect: 1, disputed: 0 });
    const takenBack = [...chain, { kind: "note" as const, event_id: 1n, ...instead("y") }];
    expect(grade(takenBack).total).toMatchObject({ rate: null, judgments: 0 });
  });

  test("does not count muted events, and says how many there are", () => {
    const mute = { kind: "mute" as const, event_id: 2n, span: { start_event_id: 2n, end_event_id: 3n } };
    const rows = [correct(1), incorrect(2), incorrect(3), incorrect(4)];
    const { total } = grade([...rows, mute]);
    expect(total).toMatchObject({ correct: 1, incorrect: 1, muted: 2, judgments: 2 });
    expect(total.mutedEvents.map(({ eventId }) => eventId)).toEqual([2n, 3n]);
    expect(grade([correct(2), incorrect(2), mute]).total).toMatchObject({ disputed: 0, muted: 1, disputes: [] });
    const unmuted = [...rows, { ...mute, id: "m" }, { kind: "note" as const, event_id: 2n, ...instead("m") }];
    expect(grade(unmuted).total).toMatchObject({ incorrect: 3, muted: 0 });
  });

  test("keeps the judgments of people, agents and systems apart", () => {
    const { total } = grade([
      correct(1, by("ada")),
      incorrect(1, by("bot", "agent")),
      correct(2, by("bot", "agent")),
      incorrect(3, by(null, "system")),
      correct(4),
    ]);
    expect(total).toMatchObject({ correct: 2, incorrect: 1, disputed: 1 });
    expect(total.byAuthorKind).toMatchObject({
      human: { correct: 1, incorrect: 0, disputed: 0 },
      agent: { correct: 1, incorrect: 1 },
      system: { incorrect: 1, rate: 0 },
      unstated: { correct: 1 },
    });
    expect(Object.keys(grade([correct(1)]).total.byAuthorKind)).toEqual(["unstated"]);
  });
});

describe("what is graded", () => {
  const keys = (rows: readonly Partial<Row>[], what: GradedBy) => grade(rows, what).groups.map(({ of }) => of);

  test("is the persona that a row names, else that of the file", () => {
    const persona = (name: string) => ({ metadata: new Map([["persona", name]]) });
    const rows = [
      correct(1),
      incorrect(2, persona("planner")),
      correct(3, persona(" ")),
      correct(4, persona("planner")),
    ];
    expect(grade(rows).groups).toMatchObject([
      { of: "planner", correct: 1, incorrect: 1 },
      { of: "pump.harn", correct: 2, incorrect: 0 },
    ]);
  });

  test("can be the author, and those without one come last", () => {
    expect(
      keys([correct(1), correct(2, by("zoe")), correct(3, by("\u{1f600}")), correct(4, by(null))], "author"),
    ).toEqual(["zoe", "\u{1f600}", null]);
  });

  test("is told apart by file, so that the same number is another event", () => {
    const other = { ...FILE, path: "b.tape.annotations.jsonl", tape: "b.tape" };
    const verdicts = [...verdictsOf([correct(1)]), ...verdictsOf([incorrect(1)], other)];
    expect(gradesOf(verdicts, "persona").groups).toMatchObject([{ of: "pump.harn", rate: 0.5, disputed: 0 }]);
    expect(gradesOf(verdicts, "tape").groups.map(({ of, rate }) => [of, rate])).toEqual([
      ["a.tape", 1],
      ["b.tape", 0],
    ]);
  });
});
