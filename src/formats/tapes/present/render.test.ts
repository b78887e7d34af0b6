import { describe, expect, test } from "vitest";
import { aRecord, aRow } from "../../../testing/tape-files.ts";
import { addTo } from "../../text/groups.ts";
import type { Row } from "../sidecar/sidecar.ts";
import type { TapeRecord } from "../tape.ts";
import { blockLines, type ShownRow, shownEvent, shownRow } from "./render.ts";

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
