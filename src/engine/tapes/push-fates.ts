import type { RowLine } from "../../formats/tapes/sidecar/row-key.ts";
import { pairRows } from "../../formats/tapes/sidecar/row-key-pairs.ts";
import type { JudgedRow } from "./judged-rows.ts";

/** What a push makes of a row, given what is known of it. */
export type Fate =
  | { readonly row: RowLine; readonly what: "new" }
  | { readonly row: RowLine; readonly what: "changed" | "unchanged" | "withdrawn"; readonly known: JudgedRow };

/**
 * A row that says what it said is left alone, whatever became of it. One that was retracted stays so, and one that another row or
 * somebody's later judgment has replaced is history: an edit of it goes into the file and changes no judgment.
 */
export function fatesOf(rows: readonly RowLine[], standing: readonly JudgedRow[]): Fate[] {
  const pairs = pairRows(rows, standing);
  return rows.map((row): Fate => {
    const known = pairs.get(row);
    if (known === undefined) return { row, what: "new" };
    if (known.state === "retracted") return { row, what: "withdrawn", known };
    const same = known.text === row.text || known.state === "superseded";
    return { row, what: same ? "unchanged" : "changed", known };
  });
}
