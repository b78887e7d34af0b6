import { expect, test } from "vitest";
import { type RowLine, rowKey } from "../../formats/tapes/sidecar/row-key.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { aRow } from "../../testing/tape-files.ts";
import type { JudgedRow } from "./judged-rows.ts";
import { fatesOf } from "./push-fates.ts";

const row = (text: string): RowLine => ({ line: 2, text, row: aRow({ id: "a" }), key: rowKey("a", text) });

function known(text: string, state: JudgedRow["state"]): JudgedRow {
  // What is decided here depends on the row alone, and not on the judgment it made.
  return { key: rowKey("a", text), text, state, record: {} as AnnotationRecord, id: "a", eventId: 0n };
}

test.each([
  ["live", "says the same", "unchanged"],
  ["live", "says something else", "changed"],
  ["superseded", "says the same", "unchanged"],
  ["superseded", "says something else", "unchanged"],
  ["retracted", "says the same", "withdrawn"],
  ["retracted", "says something else", "withdrawn"],
] as const)("of a row that is %s there, one here that %s is %s", (state, text, what) => {
  const before = known("says the same", state);
  const here = row(text);
  expect(fatesOf([here], [before])).toEqual([{ row: here, what, known: before }]);
});

test("a row that nothing there is known of is new", () => {
  const here = row("x");
  expect(fatesOf([here], [])).toEqual([{ row: here, what: "new" }]);
});
