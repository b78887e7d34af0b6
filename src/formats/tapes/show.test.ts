import { describe, expect, test } from "vitest";
import { aRecord, aRow } from "../../testing/tape-files.ts";
import { addTo } from "../text/collections.ts";
import { blockLines, histories, type ShownRow, shownEvent, shownRow, summarize } from "./show.ts";
import { Chains } from "./sidecar/current-rows.ts";
import type { Row } from "./sidecar/sidecar.ts";
import type { TapeRecord } from "./tape.ts";

function block(records: readonly TapeRecord[], rows: readonly Row[]): string[] {
  const byEvent = new Map<bigint, ShownRow[]>();
  for (const row of rows) addTo(byEvent, row.event_id, shownRow(row));
  const events = records.map(shownEvent);
  return [...blockLines({ path: "s", annotations: rows.length, events, rows: byEvent })];
}

describe("the block", () => {
  test("sorts events by all digits of their numbers, and prints them", () => {
    const [big, bigger] = [2n ** 64n - 2n, 2n ** 64n - 1n];
    const records = [bigger, 10n, big, 9n].map((seq) => aRecord({ seq, virtual_time_ms: -seq }));
    const rows = records.map(({ seq }) => aRow({ event_id: seq }));
    expect(block(records, rows).filter((line) => line.includes("event"))).toEqual([
      "  event seq=9 virtual_time_ms=-9 kind=clock_sleep",
      "  event seq=10 virtual_time_ms=-10 kind=clock_sleep",
      "  event seq=18446744073709551614 virtual_time_ms=-18446744073709551614 kind=clock_sleep",
      "  event seq=18446744073709551615 virtual_time_ms=-18446744073709551615 kind=clock_sleep",
    ]);
  });

  test("shows the annotations of a number that is there twice under each, in the order of the tape", () => {
    const records = [aRecord({ seq: 1n, virtual_time_ms: 20n }), aRecord({ seq: 1n, virtual_time_ms: 10n })];
    expect(block(records, [aRow({ id: "a", event_id: 1n })])).toEqual([
      "[annotations] loaded 1 annotation(s) from s",
      "  event seq=1 virtual_time_ms=20 kind=clock_sleep",
      "    [note] a: (no evidence)",
      "  event seq=1 virtual_time_ms=10 kind=clock_sleep",
      "    [note] a: (no evidence)",
    ]);
  });

  test("is one line for a sidecar without annotations, and counts those that it cannot show", () => {
    expect(block([aRecord()], [])).toEqual(["[annotations] loaded 0 annotation(s) from s"]);
    expect(block([aRecord()], [aRow({ event_id: 5n })])).toEqual(["[annotations] loaded 1 annotation(s) from s"]);
  });
});

describe("the evidence in it", () => {
  test.each([
    ["one\ntwo", "one"],
    ["one\r\ntwo", "one"],
    ["one\rtwo\nthree", "one\rtwo"],
    ["one\r", "one\r"],
    ["one\r\r\ntwo", "one\r"],
    ["\r\ntwo", ""],
    ["\n", ""],
    ["one\u2028two", "one\u2028two"],
    ["", "(no evidence)"],
    [null, "(no evidence)"],
  ])("%j is shown as %j", (evidence, shown) => {
    expect(shownRow(aRow({ evidence })).evidence).toBe(shown);
  });
});

type Status = Row["hypothesis_status"];

function stated(id: string, hypothesis_status: Status, supersedes?: string): Row {
  const metadata = new Map(supersedes === undefined ? [] : [["supersedes", supersedes]]);
  return aRow({ id, kind: "hypothesis", hypothesis_status, metadata });
}

function told(...rows: readonly Row[]) {
  const chains = new Chains();
  for (const row of rows) chains.add(row);
  return histories(rows, chains).map(({ steps }) =>
    steps.map(({ row, replaces, isNewest, isAdvised }) =>
      [row.id, replaces?.id ?? "-", isNewest ? "newest" : "old", isAdvised ? "advised" : "unusual"].join(" "),
    ),
  );
}

describe("the history of a hypothesis", () => {
  test("is told from its first row to its last, apart from others", () => {
    const rows = [
      stated("a", "active"),
      stated("x", "active"),
      stated("b", "verifying", "a"),
      stated("c", "confirmed", "b"),
    ];
    expect(told(...rows)).toEqual([
      ["a - old advised", "b a old advised", "c b newest advised"],
      ["x - newest advised"],
    ]);
  });

  test("has several ends where two rows replaced the same one", () => {
    expect(told(stated("a", "active"), stated("b", "confirmed", "a"), stated("c", "disproven", "a"))).toEqual([
      ["a - old advised", "b a newest advised", "c a newest advised"],
    ]);
  });

  test("marks a step that goes back", () => {
    expect(told(stated("a", "confirmed"), stated("b", "active", "a"))).toEqual([
      ["a - old advised", "b a newest unusual"],
    ]);
  });
});

describe("the history of anything else", () => {
  test("is told when it was replaced, and not otherwise", () => {
    const rows = [aRow({ id: "n" }), aRow({ id: "v" }), aRow({ id: "w", metadata: new Map([["supersedes", "v"]]) })];
    expect(told(...rows)).toEqual([["v - old advised", "w v newest advised"]]);
  });
});

function summaryOf(...rows: readonly Row[]) {
  const chains = new Chains();
  for (const row of rows) chains.add(row);
  const { counted, mutes, ...rest } = summarize(rows, chains);
  return { ...rest, counted: counted.map(({ id }) => id), mutes: mutes.map(({ id }) => id) };
}

const replacing = (id: string) => new Map([["supersedes", id]]);

describe("what rows come to", () => {
  test("leaves out events that somebody muted, and what was replaced", () => {
    const rows = [
      aRow({ id: "a", event_id: 1n, kind: "incorrect" }),
      aRow({ id: "b", event_id: 2n, kind: "incorrect" }),
      aRow({ id: "m", event_id: 2n, kind: "mute" }),
      aRow({ id: "c", event_id: 1n, kind: "correct", metadata: replacing("a") }),
    ];
    expect(summaryOf(...rows)).toMatchObject({
      annotations: 4,
      replaced: 1,
      muted: 1,
      counted: ["c"],
      mutes: ["m"],
      kinds: [{ name: "correct", count: 1 }],
    });
  });

  test("leaves out every event in the span of a mute, and only the event when the span makes no sense", () => {
    const noted = [0n, 1n, 2n, 3n].map((event_id) => aRow({ id: String(event_id), event_id }));
    const mute = (end_event_id: bigint, start_event_id = 1n) =>
      aRow({ kind: "mute", event_id: 1n, span: { start_event_id, end_event_id } });
    expect(summaryOf(...noted, mute(2n)).counted).toEqual(["0", "3"]);
    expect(summaryOf(...noted, mute(0n)).counted).toEqual(["0", "2", "3"]);
    expect(summaryOf(...noted, mute(3n, 0n)).counted).toEqual(["0", "2", "3"]);
    expect(summaryOf(...noted, mute(2n ** 64n - 1n)).counted).toEqual(["0"]);
  });

  test("counts an event again when its mute was replaced", () => {
    const rows = [
      aRow({ id: "m", kind: "mute" }),
      aRow({ id: "a", kind: "incorrect" }),
      aRow({ id: "n", metadata: replacing("m") }),
    ];
    expect(summaryOf(...rows)).toMatchObject({ mutes: [], muted: 0, counted: ["a", "n"] });
  });

  test("counts kinds, friction and hypotheses in the order of the format, and nothing twice", () => {
    const rows = [
      aRow({ kind: "unknown" }),
      aRow({ kind: "hypothesis", hypothesis_status: "stale" }),
      aRow({ kind: "hypothesis", hypothesis_status: "active" }),
      aRow({ kind: "hypothesis" }),
      aRow({ kind: "friction", friction_kind: "tool_gap" }),
      aRow({ kind: "friction", friction_kind: "of another age" }),
      aRow({ kind: "note", friction_kind: "tool_gap", hypothesis_status: "active" }),
    ];
    expect(summaryOf(...rows)).toMatchObject({
      kinds: [
        { name: "note", count: 1 },
        { name: "hypothesis", count: 3 },
        { name: "friction", count: 2 },
        { name: "unknown", count: 1 },
      ],
      frictionKinds: [{ name: "tool_gap", count: 1 }],
      hypothesisStatuses: [
        { name: "active", count: 1 },
        { name: "stale", count: 1 },
      ],
    });
  });
});
