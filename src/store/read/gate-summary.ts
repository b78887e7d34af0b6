import { setImmediate as nextTurn } from "node:timers/promises";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { GateSummaryQuery, GateSummaryRow } from "../port/gates.ts";
import { dialectOf } from "../schema/dialect.ts";
import type { Tables } from "../schema/tables.ts";
import { DAY_MS, inParts, isoDate, type Period } from "./periods.ts";

type Grouping = GateSummaryQuery["groupBy"];

interface Row {
  readonly key: string;
  readonly opened: number;
  readonly decided: number;
  readonly rejected: number;
  readonly timed_out: number;
  readonly overridden: number;
  readonly median_ms: number | null;
  readonly p95_ms: number | null;
  readonly under: number;
}

/**
 * Counted and ranked by the database: only the groups come here, however many gates there were. A percentile is the
 * nearest rank, the least of the values that so many per cent do not exceed. Where the database is in this process, all other
 * work waits for a statement, and the gates are read a few at a time.
 */
export async function gateSummary(
  db: Kysely<Tables>,
  visible: Visibility,
  query: GateSummaryQuery,
): Promise<GateSummaryRow[]> {
  const rows =
    dialectOf(db) === "sqlite" ? await inPeriods(db, visible, query) : await inOneStatement(db, visible, query);
  return query.groupBy === "day" ? rows.map((row) => ({ ...row, key: isoDate(Number(row.key)) })) : rows;
}

/** Gates, or votes of principals, that are read in one go. */
const ROWS_AT_ONCE = 2000;

async function inPeriods(db: Kysely<Tables>, visible: Visibility, query: GateSummaryQuery): Promise<GateSummaryRow[]> {
  const figures = new GateFigures();
  for await (const part of inParts(query, (rest) => endOfPart(db, visible, query.groupBy, rest))) {
    const gates = gatesOf(visible, { ...query, ...part });
    for (const row of (await sql<GateRow>`${gates}`.execute(db)).rows) figures.add(row);
  }
  return figures.rows();
}

/** The time by which so many were opened. Gates that were opened in the same millisecond are in the same part. */
async function endOfPart(
  db: Kysely<Tables>,
  { tenant }: Visibility,
  groupBy: Grouping,
  rest: Period,
): Promise<number | undefined> {
  const isByVote = groupBy === "principal";
  const at = isByVote ? sql`ballot.opened_at` : sql`gate.requested_at`;
  const from = isByVote ? sql`interrupt_votes as ballot` : sql`interrupts as gate`;
  const kind = isByVote ? sql`` : sql`gate.kind = 'approval' and`;
  const table = isByVote ? sql`ballot` : sql`gate`;
  const { rows } = await sql<{ at: number }>`select ${at} as at from ${from}
    where ${kind} ${within(at, table, { tenant }, rest)}
    order by ${at} limit 1 offset ${sql.lit(ROWS_AT_ONCE)}`.execute(db);
  return rows[0] && rows[0].at + 1;
}

async function inOneStatement(
  db: Kysely<Tables>,
  visible: Visibility,
  query: GateSummaryQuery,
): Promise<GateSummaryRow[]> {
  const { rows } = await sql<Row>`
    with gates as (${gatesOf(visible, query)}),
    ranked as (
      select *,
        row_number() over (partition by key, decided order by ms) as rank,
        count(*) over (partition by key, decided) as ranks
      from gates
    )
    select key,
      count(*) as opened,
      count(*) filter (where decided = 1) as decided,
      count(*) filter (where decided = 1 and outcome = 'rejected') as rejected,
      count(*) filter (where status = 'expired') as timed_out,
      count(*) filter (where decided = 1 and overridden = 1) as overridden,
      max(ms) filter (where decided = 1 and rank = ${rankOf(50)}) as median_ms,
      max(ms) filter (where decided = 1 and rank = ${rankOf(95)}) as p95_ms,
      count(*) filter (where decided = 1 and ms < ${sql.lit(UNDER_MS)}) as under
    from ranked group by key order by key`.execute(db);
  return rows.map((row) => ({
    key: row.key,
    opened: row.opened,
    decided: row.decided,
    rejected: row.rejected,
    timedOut: row.timed_out,
    overridden: row.overridden,
    medianSeconds: seconds(row.median_ms),
    p95Seconds: seconds(row.p95_ms),
    underTenSeconds: row.under,
  }));
}

/** Whole numbers, so that both databases divide alike: the smallest that is at least so many per cent of `ranks`. */
function rankOf(percent: number): RawBuilder<number> {
  return sql`(ranks * ${sql.lit(percent)} + 99) / 100`;
}

/** `decided`, because only people resolve; time expires and the end of a run cancels. */
const COLUMNS = sql`gate.status, gate.outcome, gate.closed_at - gate.requested_at as ms,
  case when gate.status = 'resolved' then 1 else 0 end as decided`;

function gatesOf(visible: Visibility, query: GateSummaryQuery): RawBuilder<unknown> {
  if (query.groupBy !== "principal") {
    return sql`select ${keyOf(query.groupBy)} as key, gate.overridden, ${COLUMNS} from interrupts as gate
      where gate.kind = 'approval' and ${within(sql`gate.requested_at`, sql`gate`, visible, query)}`;
  }
  // One principal may have voted more than once at a gate: for itself, and for others whose votes it relayed.
  return sql`select vote.key, vote.overridden, ${COLUMNS}
    from (
      select ballot.principal as key, ballot.interrupt_id, ballot.opened_at, max(ballot.override) as overridden
      from interrupt_votes as ballot
      where ${within(sql`ballot.opened_at`, sql`ballot`, visible, query)}
      group by ballot.principal, ballot.interrupt_id, ballot.opened_at
    ) as vote
    join interrupts as gate on gate.tenant = ${visible.tenant} and gate.requested_at = vote.opened_at
      and gate.interrupt_id = vote.interrupt_id and gate.kind = 'approval'`;
}

function keyOf(groupBy: Exclude<Grouping, "principal">): RawBuilder<string> {
  switch (groupBy) {
    case "workflow":
      return sql`gate.workflow_id`;
    case "node":
      return sql`gate.workflow_id || ' ' || gate.node_id`;
    case "day":
      return sql`cast(gate.requested_at / ${sql.lit(DAY_MS)} as text)`;
    case undefined:
      return sql`''`;
  }
}

function within(
  openedAt: RawBuilder<unknown>,
  table: RawBuilder<unknown>,
  { tenant, workspace }: Visibility,
  { fromMs, toMs, workflowId }: GateSummaryQuery,
): RawBuilder<unknown> {
  const conditions = [
    sql`${table}.tenant = ${tenant}`,
    ...(workspace === undefined ? [] : [sql`${table}.workspace = ${workspace}`]),
    ...(workflowId === undefined ? [] : [sql`${table}.workflow_id = ${workflowId}`]),
    ...(fromMs === undefined ? [] : [sql`${openedAt} >= ${fromMs}`]),
    ...(toMs === undefined ? [] : [sql`${openedAt} < ${toMs}`]),
  ];
  return sql.join(conditions, sql` and `);
}

function seconds(ms: number | null): number | null {
  return ms === null ? null : ms / 1000;
}

/** One gate of a group. */
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
