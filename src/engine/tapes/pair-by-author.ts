import { authorNameOf } from "../../formats/tapes/sidecar/judgment-rows.ts";
import { pairBy, type RowLine, stillCountingFirst } from "../../formats/tapes/sidecar/row-lines.ts";
import { addTo } from "../../formats/text/collections.ts";
import { isMadeHere } from "../judgments/may-replace.ts";
import type { JudgedRow } from "./judged-rows.ts";

type Pairs = Map<RowLine, JudgedRow>;

/**
 * Which rows of a file are which judgments. A row is only paired with a judgment of its own author: ids are chosen by those who write
 * files, so anybody may take those of another. Judgments made here come before imported ones.
 * @param pusher the author of rows that name none
 */
export function pairByAuthor(rows: readonly RowLine[], standing: readonly JudgedRow[], pusher: string): Pairs {
  const rowsOf = new Map<string, RowLine[]>();
  for (const row of rows) addTo(rowsOf, authorNameOf(row.row, pusher), row);
  const judgedBy = new Map<string, JudgedRow[]>();
  for (const known of standing) addTo(judgedBy, known.record.actor, known);
  const pairs: Pairs = new Map();
  for (const [author, own] of rowsOf) {
    const judged = judgedBy.get(author) ?? [];
    for (const madeHere of [true, false]) {
      const some = judged.filter(({ record }) => isMadeHere(record) === madeHere);
      pairSome(own, some, pairs);
    }
  }
  return pairs;
}

/** For files from before rows were paired by their author: what is left over is paired whoever wrote it. */
export function pairLeftOver(rows: readonly RowLine[], standing: readonly JudgedRow[], pairs: Pairs): Pairs {
  pairSome(rows, standing, pairs);
  return pairs;
}

/** Rows that say the same belong together, whether they name their author or not; then those of one id, in their order. */
function pairSome(rows: readonly RowLine[], judged: readonly JudgedRow[], pairs: Pairs): void {
  const known = stillCountingFirst(judged);
  pairBy({ rows, of: ({ text }) => text }, { known, of: ({ came }) => came }, pairs);
  pairBy({ rows, of: ({ text }) => text }, { known, of: ({ named }) => named }, pairs);
  pairBy({ rows, of: ({ row }) => row.id }, { known, of: ({ id }) => id }, pairs);
}
