import { type RowLine, rowKey } from "../../formats/tapes/sidecar/row-lines.ts";
import type { Caller } from "../../protocol/identity/identity.ts";
import { actorKindOf } from "../judgments/decide/annotate.ts";
import { isMadeHere, mayReplace } from "../judgments/may-replace.ts";
import type { JudgedRow } from "./judged-rows.ts";
import { pairByAuthor } from "./pair-by-author.ts";

/** What a push makes of a row, given what is known of it. */
export type Fate =
  | { readonly row: RowLine; readonly what: "new" }
  /** It names no author, and may be the caller's own or a copy of another author's. */
  | { readonly row: RowLine; readonly what: "ambiguous"; readonly author: string }
  | { readonly row: RowLine; readonly what: "changed" | "unchanged" | "withdrawn"; readonly known: JudgedRow };

/**
 * A row that says what its author said is left alone, whatever became of it. One that was retracted stays so, and one that another row
 * or a later judgment of its author has replaced is history: an edit of it changes neither a judgment nor what others pull. What was
 * imported in the caller's name is a claim of its importer: the caller's own row replaces it, and stands where the claim no longer does.
 */
export function fatesOf(
  rows: readonly RowLine[],
  standing: readonly JudgedRow[],
  { principal, kind }: Pick<Caller, "principal" | "kind">,
): Fate[] {
  const pairs = pairByAuthor(rows, standing, principal);
  const others = authorsOfOthers(standing, principal);
  const caller = { actor: principal, actorKind: actorKindOf(kind) };
  return rows.map((row): Fate => {
    const known = pairs.get(row);
    if (known === undefined) {
      const author = row.row.author?.id ? undefined : others.get(row.key);
      return author === undefined ? { row, what: "new" } : { row, what: "ambiguous", author };
    }
    if (known.record.actor === principal && !isMadeHere(known.record)) {
      const replaces = known.state === "live" && mayReplace(caller, known.record);
      return replaces ? { row, what: "changed", known } : { row, what: "new" };
    }
    if (known.state === "retracted") return { row, what: "withdrawn", known };
    const same = row.text === known.came || row.text === known.named || known.state === "superseded";
    return { row, what: same ? "unchanged" : "changed", known };
  });
}

/** By the key of the row as it came. What is kept from the caller is not told. */
function authorsOfOthers(standing: readonly JudgedRow[], principal: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { id, came, record, hidden } of standing) {
    if (record.actor !== principal && !hidden) found.set(rowKey(id, came), record.actor);
  }
  return found;
}
