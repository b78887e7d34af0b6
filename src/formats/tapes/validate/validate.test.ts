import { describe, expect, test } from "vitest";
import { aRecord, aRow, aSidecarHeader, aTapeHeader } from "../../../testing/tape-files.ts";
import { digestOf } from "../digest.ts";
import type { Row, SidecarHeader } from "../sidecar/sidecar.ts";
import { validate } from "./validate.ts";
import { printReport } from "./validate-report.ts";

const MOST = 2n ** 64n - 1n;
const records = [0n, 1n, 5n].map((seq) => aRecord({ seq }));

async function verdictOn(rows: Partial<Row>[], header: Partial<SidecarHeader> = {}, tape = records) {
  const sidecar = { header: aSidecarHeader(header), rows: rows.map(aRow) };
  return validate(sidecar, { header: aTapeHeader(), records: tape });
}

async function problemsOf(...rows: Partial<Row>[]) {
  const { findings } = await verdictOn(rows);
  return [...findings].map(({ problem }) => problem);
}

async function codesOf(row: Partial<Row>) {
  return (await problemsOf(row)).map(({ code }) => code);
}

describe("an annotation", () => {
  test("about an event of the tape is fine", async () => {
    expect(await problemsOf({ event_id: 5n })).toEqual([]);
  });

  test("is named by its event when it has no id", async () => {
    expect(await problemsOf({ event_id: 2n }, { event_id: 3n, id: "a" })).toEqual([
      { code: "unknown_event_id", annotation_id: "ann@event_2", event_id: 2n },
      { code: "unknown_event_id", annotation_id: "a", event_id: 3n },
    ]);
  });

  test("may use an id once; every further use is reported, and none is no id", async () => {
    expect(await problemsOf({ id: "a" }, { id: "" }, { id: "a" }, { id: "" }, { id: "A" }, { id: "a" })).toEqual([
      { code: "duplicate_id", annotation_id: "a" },
      { code: "duplicate_id", annotation_id: "a" },
    ]);
  });

  test.each<[Partial<Row>, string[]]>([
    [{ kind: "hypothesis" }, ["hypothesis_status_missing"]],
    [{ kind: "hypothesis", hypothesis_status: "active" }, []],
    [{ kind: "hypothesis", friction_kind: "x" }, ["hypothesis_status_missing", "friction_kind_unexpected"]],
    [{ kind: "friction", friction_kind: "tool_gap" }, []],
    [{ kind: "friction" }, ["friction_kind_missing"]],
    [{ kind: "friction", friction_kind: "" }, ["friction_kind_unknown"]],
    [
      { kind: "friction", friction_kind: "Tool_gap", hypothesis_status: "stale" },
      ["hypothesis_status_unexpected", "friction_kind_unknown"],
    ],
    [
      { kind: "mute", friction_kind: "tool_gap", hypothesis_status: "stale" },
      ["hypothesis_status_unexpected", "friction_kind_unexpected"],
    ],
    [{ kind: "unknown", friction_kind: "x", hypothesis_status: "stale" }, ["unknown_kind"]],
  ])("%o has %j", async (row, codes) => {
    expect(await codesOf(row)).toEqual(codes);
  });

  test("has a span from its own event to one that is neither before it nor past the tape", async () => {
    const span = (start: bigint, end: bigint) => ({ start_event_id: start, end_event_id: end });
    for (const end of [0n, 3n, 5n]) expect(await problemsOf({ span: span(0n, end) })).toEqual([]);
    expect(await problemsOf({ id: "a", event_id: 1n, span: span(5n, 4n) }, { id: "b", span: span(1n, 6n) })).toEqual([
      { code: "invalid_span", annotation_id: "a", message: "span.start_event_id (5) must equal event_id (1)" },
      { code: "invalid_span", annotation_id: "a", message: "span.end_event_id (4) is before start_event_id (5)" },
      { code: "invalid_span", annotation_id: "b", message: "span.start_event_id (1) must equal event_id (0)" },
      {
        code: "invalid_span",
        annotation_id: "b",
        message: "span.end_event_id (6) is past the last tape event (seq=5)",
      },
    ]);
  });

  test("has all its problems said, in one order", async () => {
    const row = aRow({
      id: "a",
      event_id: MOST,
      kind: "note",
      hypothesis_status: "active",
      friction_kind: "x",
      span: { start_event_id: 9n, end_event_id: 8n },
    });
    const { findings } = await verdictOn([{ id: "a" }, row]);
    expect([...findings].map(({ problem, line }) => `${line} ${problem.code}`)).toEqual([
      "3 duplicate_id",
      "3 unknown_event_id",
      "3 hypothesis_status_unexpected",
      "3 friction_kind_unexpected",
      "3 invalid_span",
      "3 invalid_span",
      "3 invalid_span",
    ]);
  });

  test("ends where it likes when the tape has no events", async () => {
    const { findings } = await verdictOn([{ span: { start_event_id: 0n, end_event_id: MOST } }], {}, []);
    expect([...findings].map(({ problem }) => problem.code)).toEqual(["unknown_event_id"]);
  });
});

describe("the digest in the header", () => {
  test("is compared last, letter by letter", async () => {
    const actual = await digestOf(records);
    const found = async (tape_content_hash: string | null) =>
      [...(await verdictOn([{ event_id: 9n }], { tape_content_hash })).findings].slice(1);
    expect(await found(null)).toEqual([]);
    expect(await found(actual)).toEqual([]);
    for (const expected of ["", actual.toUpperCase()]) {
      expect(await found(expected)).toEqual([{ problem: { code: "tape_digest_mismatch", expected, actual }, line: 1 }]);
    }
  });
});

describe("the report", () => {
  const reportOn = async (rows: Partial<Row>[]) => [...printReport(await verdictOn(rows))].join("");

  test("has empty containers on one line", async () => {
    expect(await reportOn([])).toBe('{\n  "annotations_checked": 0,\n  "problems": [],\n  "kind_counts": {}\n}');
  });

  test("has exact numbers, escapes, and kinds by name", async () => {
    const rows: Partial<Row>[] = [
      { kind: "note", event_id: MOST, id: '"\u0001é\u2028' },
      { kind: "friction", friction_kind: "a\nb" },
      { kind: "note" },
    ];
    expect(await reportOn(rows)).toBe(`{
  "annotations_checked": 3,
  "problems": [
    {
      "code": "unknown_event_id",
      "annotation_id": "\\"\\u0001é\u2028",
      "event_id": 18446744073709551615
    },
    {
      "code": "friction_kind_unknown",
      "annotation_id": "ann@event_0",
      "friction_kind": "a\\nb"
    }
  ],
  "kind_counts": {
    "friction": 1,
    "note": 2
  }
}`);
  });

  test("holds any number of problems in their order", async () => {
    const rows = Array.from({ length: 1000 }, (_, i) => ({ event_id: BigInt(i) + 2n ** 60n }));
    const { findings } = await verdictOn(rows);
    expect(findings.length).toBe(1000);
    expect([...findings].map(({ line }) => line)).toEqual(rows.map((_, i) => i + 2));
    expect([...findings].at(-1)?.problem).toMatchObject({ event_id: 2n ** 60n + 999n });
  });
});
