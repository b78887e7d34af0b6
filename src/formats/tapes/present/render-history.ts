import type { Chains } from "../sidecar/chains.ts";
import type { Row } from "../sidecar/sidecar.ts";
import { isAdvisedStep } from "../sidecar/status-change.ts";

type StatedRow = Pick<Row, "kind" | "hypothesis_status">;

/** The rows about one subject over time, in the order of the file. */
export interface History<R extends StatedRow> {
  readonly steps: readonly Step<R>[];
}

export interface Step<R extends StatedRow> {
  readonly row: R;
  readonly replaces: R | undefined;
  /** Nothing replaces it: this is what holds. There are several where two rows replaced the same one. */
  readonly isNewest: boolean;
  /** False for a step that the format advises against, such as one from `confirmed` back to `active`. */
  readonly isAdvised: boolean;
}

/** Every hypothesis, and all other replaced rows. `chains` was given the same rows, in the same order. */
export function histories<R extends StatedRow>(rows: readonly R[], chains: Chains): History<R>[] {
  const step = (index: number): Step<R> => {
    const row = rows[index] as R;
    const earlier = chains.earlierThan(index);
    const replaces = earlier === undefined ? undefined : rows[earlier];
    return { row, replaces, isNewest: !chains.isReplaced(index), isAdvised: isAdvised(replaces, row) };
  };
  const groups = chains.groups();
  return rows.flatMap(({ kind }, index) => {
    if (chains.earlierThan(index) !== undefined) return [];
    const alone = kind === "hypothesis" ? [index] : [];
    const group = groups.get(index) ?? alone;
    return group.length === 0 ? [] : [{ steps: group.map(step) }];
  });
}

function isAdvised(earlier: StatedRow | undefined, row: StatedRow): boolean {
  const from = earlier?.hypothesis_status ?? null;
  const to = row.hypothesis_status;
  return from === null || to === null || isAdvisedStep(from, to);
}
