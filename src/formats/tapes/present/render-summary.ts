import type { Chains } from "../sidecar/chains.ts";
import { splitMuted } from "../sidecar/current-rows.ts";
import { FRICTION_KINDS, HYPOTHESIS_STATUSES, ROW_KINDS, type Row } from "../sidecar/sidecar.ts";

/** The members of a row that a summary shows. */
export type SummaryRow = Omit<Row, "suggested_fix" | "links" | "metadata">;

/** Drops the other members: a million rows then take less than half the memory. */
export function summaryRow({ suggested_fix: _, links: __, metadata: ___, ...shown }: Row): SummaryRow {
  return shown;
}

/** Figures of the rows of a sidecar. */
export interface Summary {
  /** All rows of the file. */
  readonly annotations: number;
  /** Those that a later one replaces, which count for nothing any more. */
  readonly replaced: number;
  /** Those on muted events, which do not count either. */
  readonly muted: number;
  /** The rest: everything below is about these. */
  readonly counted: readonly SummaryRow[];
  /** The rows that mute, unless they are replaced. */
  readonly mutes: readonly SummaryRow[];
  /** Only what occurs, in the order of the format. */
  readonly kinds: readonly Count[];
  readonly frictionKinds: readonly Count[];
  readonly hypothesisStatuses: readonly Count[];
}

export interface Count {
  readonly name: string;
  readonly count: number;
}

/** `chains` was given the same rows, in the same order. */
export function summarize(rows: readonly SummaryRow[], chains: Chains): Summary {
  const current = rows.filter((_, index) => !chains.isReplaced(index));
  const { heard: counted, muted, mutes } = splitMuted(current);
  return {
    annotations: rows.length,
    replaced: rows.length - current.length,
    muted: muted.length,
    counted,
    mutes,
    kinds: counts([...ROW_KINDS, "unknown"], counted, ({ kind }) => kind),
    frictionKinds: counts(FRICTION_KINDS, counted, ({ kind, friction_kind }) => kind === "friction" && friction_kind),
    hypothesisStatuses: counts(
      HYPOTHESIS_STATUSES,
      counted,
      ({ kind, hypothesis_status }) => kind === "hypothesis" && hypothesis_status,
    ),
  };
}

function counts(
  names: readonly string[],
  rows: readonly SummaryRow[],
  nameOf: (row: SummaryRow) => string | null | false,
): Count[] {
  const found = new Map(names.map((name) => [name, 0]));
  for (const row of rows) {
    const name = nameOf(row);
    // Words that the format does not know are no count of their own: validation reports them.
    const count = name ? found.get(name) : undefined;
    if (name && count !== undefined) found.set(name, count + 1);
  }
  return Array.from(found, ([name, count]) => ({ name, count })).filter(({ count }) => count > 0);
}
