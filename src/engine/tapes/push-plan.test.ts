import { describe, expect, test } from "vitest";
import { type RowLine, rowKey } from "../../formats/tapes/sidecar/row-lines.ts";
import type { AnnotationRecord } from "../../store/port/judgments.ts";
import { aRow } from "../../testing/tape-files.ts";
import type { JudgedRow } from "./judged-rows.ts";
import { fatesOf } from "./push-plan.ts";

const ANA = { principal: "ana", kind: "user" } as const;

const row = (text: string): RowLine => ({ line: 2, text, row: aRow({ id: "a" }), key: rowKey("a", text) });

function known(text: string, state: JudgedRow["state"], by = "ana", importedBy?: string): JudgedRow {
  const record = { actor: by, actorKind: "person", ...(importedBy && { importedBy }) } as AnnotationRecord;
  return { key: rowKey("a", text), text, came: text, named: text, state, record, id: "a", eventId: 0n };
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
  expect(fatesOf([here], [before], ANA)).toEqual([{ row: here, what, known: before }]);
});

test("a row that nothing there is known of is new", () => {
  const here = row("x");
  expect(fatesOf([here], [], ANA)).toEqual([{ row: here, what: "new" }]);
});

describe("a row of the caller's own", () => {
  const STATES = ["live", "superseded", "retracted"] as const;

  test.each(STATES)(
    "that has the id of another author's row, which is %s there, is new where it names the caller",
    (state) => {
      const here = { ...row("mine"), row: aRow({ id: "a", author: { id: "ana", kind: "human", surface: null } }) };
      expect(fatesOf([here], [known("mine", state, "mal")], ANA)).toEqual([{ row: here, what: "new" }]);
    },
  );

  test.each(STATES)(
    "that names no author and has the id of another's row, which is %s there, is ambiguous",
    (state) => {
      const here = row("mine");
      const fate = { row: here, what: "ambiguous", author: "mal" };
      expect(fatesOf([here], [known("mine", state, "mal")], ANA)).toEqual([fate]);
    },
  );

  test("that was imported in the caller's name replaces the import, or is new where that counts no more", () => {
    const here = row("mine");
    const imported = known("mine", "live", "ana", "olga");
    expect(fatesOf([here], [imported], ANA)).toEqual([{ row: here, what: "changed", known: imported }]);
    for (const state of ["superseded", "retracted"] as const) {
      expect(fatesOf([here], [known("mine", state, "ana", "olga")], ANA)).toEqual([{ row: here, what: "new" }]);
    }
  });
});
