import { setImmediate as nextTurn } from "node:timers/promises";
import type { GateSummaryRow } from "../port/gates.ts";

/** What is known of one gate in a group. */
export interface GateRow {
  readonly key: string;
  readonly decided: number;
  readonly outcome: string | null;
  readonly status: string;
  readonly overridden: number;
  readonly ms: number | null;
}

interface Group {
  opened: number;
  rejected: number;
  timedOut: number;
  overridden: number;
  under: number;
  /** How long each decision took. */
  readonly ms: number[];
}

const UNDER_MS = 10_000;
/** Groups that are ranked in one go. */
const GROUPS_AT_ONCE = 1000;

/** The figures of groups of gates, gathered row by row: as the statement of `gateSummary` counts and ranks them in one go. */
export class GateFigures {
  readonly #groups = new Map<string, Group>();

  add({ key, decided, outcome, status, overridden, ms }: GateRow): void {
    const group = this.#groupOf(key);
    group.opened += 1;
    if (status === "expired") group.timedOut += 1;
    if (decided !== 1) return;
    group.ms.push(ms ?? 0);
    if (outcome === "rejected") group.rejected += 1;
    if (overridden === 1) group.overridden += 1;
    if (ms !== null && ms < UNDER_MS) group.under += 1;
  }

  #groupOf(key: string): Group {
    const known = this.#groups.get(key);
    if (known !== undefined) return known;
    const group: Group = { opened: 0, rejected: 0, timedOut: 0, overridden: 0, under: 0, ms: [] };
    this.#groups.set(key, group);
    return group;
  }

  /** In the order of their keys. */
  async rows(): Promise<GateSummaryRow[]> {
    const rows: GateSummaryRow[] = [];
    for (const key of [...this.#groups.keys()].sort()) {
      rows.push(rowOf(key, this.#groupOf(key)));
      if (rows.length % GROUPS_AT_ONCE === 0) await nextTurn();
    }
    return rows;
  }
}

function rowOf(key: string, { ms, under, ...counts }: Group): GateSummaryRow {
  const sorted = Float64Array.from(ms).sort();
  return {
    key,
    ...counts,
    decided: ms.length,
    medianSeconds: nearestRank(sorted, 50),
    p95Seconds: nearestRank(sorted, 95),
    underTenSeconds: under,
  };
}

/** The smallest that is at least so many per cent of all. */
function nearestRank(sorted: Float64Array, percent: number): number | null {
  const ms = sorted[Math.ceil((sorted.length * percent) / 100) - 1];
  return ms === undefined ? null : ms / 1000;
}
