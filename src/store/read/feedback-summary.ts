import { setImmediate as nextTurn } from "node:timers/promises";
import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { FeedbackQuery, FeedbackRow } from "../port/judgments.ts";
import { agentsIn, holdsAgent } from "../rows/annotation-rows.ts";
import { WHOLE_RUN } from "../rows/feedback-tallies.ts";
import { dialectOf } from "../schema/dialect.ts";
import type { Tables } from "../schema/tables.ts";
import { LabelCounts, type NamedLabels, otherRunsThan, recountedTallies, Sums } from "./feedback-counts.ts";
import { DAY_MS, inParts, isoDate, type Period } from "./periods.ts";

/**
 * Counted by the database, along the index of runs that have ended and the tallies of each: only the groups come here,
 * however many annotations there are. Runs are counted last, so that none is annotated that is not among them.
 */
export async function feedbackSummary(
  db: Kysely<Tables>,
  visible: Visibility,
  query: FeedbackQuery,
  labelsAtOnce = LABELS_AT_ONCE,
): Promise<FeedbackRow[]> {
  const byNode = query.groupBy === "node";
  const tallies = new Sums<TallyRow>(placeOf);
  const labels = new LabelCounts();
  const addLabels = (rows: readonly LabelRow[]) => {
    for (const row of perAgent(query, rows)) labels.add(placeOf(row), row.label, row.n);
  };
  const runs = new Sums<RunsRow>(({ key }) => key);
  const dialect = dialectOf(db);
  const from = dialect === "sqlite" ? ENDED_RUNS_IN_SQLITE : sql`runs as run`;
  const ofTenant = sql`tally.tenant = ${visible.tenant}`;
  const stored = query.recounted === undefined ? [] : [otherRunsThan(dialect, query.recounted.runIds)];
  const parts = dialect === "sqlite" ? inParts(query, (rest) => endOfPart(db, visible.tenant, rest)) : [{}];
  for await (const period of parts) {
    const part = { ...query, ...period };
    const where = [ofTenant, ended(visible, part), ...stored];
    tallies.add(
      perAgent(query, (await talliesOf(sql`${from} cross join run_feedback as tally`, where, part).execute(db)).rows),
    );
    for await (const rows of labelsIn(db, { visible, from, where, labelsAtOnce }, part)) addLabels(rows);
    runs.add(perAgent(query, (await runsOf(from, visible, part).execute(db)).rows));
  }
  if (query.recounted !== undefined) {
    const { feedback, labels: given } = recountedTallies(dialect, query.recounted);
    const where = [ofTenant, ended(visible, query)];
    tallies.add(
      perAgent(query, (await talliesOf(sql`${feedback} cross join runs as run`, where, query).execute(db)).rows),
    );
    addLabels((await labelsOf(sql`${given} cross join runs as run`, where, query).execute(db)).rows);
  }
  const seen = new Set(tallies.rows.map(({ key }) => key));
  const silent = byNode ? [] : runs.rows.flatMap(({ key }) => (seen.has(key) ? [] : [withoutTallies(key)]));
  const found: FeedbackRow[] = [];
  for (const row of [...tallies.rows, ...silent]) {
    const named = labels.of(placeOf(row));
    found.push(toFeedbackRow(row, runs.of(row.key), named, query.groupBy));
    if (named.otherLabels > 0) await nextTurn();
  }
  return found.sort((a, b) => compare(a.key, b.key) || compare(a.actorKind, b.actorKind));
}

/** Runs that are summed up in one go, where the database is in this process and all other work waits meanwhile. */
const RUNS_AT_ONCE = 1000;

/** The time by which so many runs ended. Runs that ended in the same millisecond are in the same part. */
async function endOfPart(db: Kysely<Tables>, tenant: string, rest: Period): Promise<number | undefined> {
  const { rows } = await sql<{ updated_at: number }>`
    select run.updated_at from ${ENDED_RUNS_IN_SQLITE} where ${ended({ tenant }, rest)}
    order by run.updated_at limit 1 offset ${sql.lit(RUNS_AT_ONCE)}`.execute(db);
  return rows[0] && rows[0].updated_at + 1;
}

/**
 * Left alone, SQLite may prefer an index in the order of the groups, and then reads every run with its state; or begin with
 * the tallies, which is why they are joined with `cross join`.
 */
const ENDED_RUNS_IN_SQLITE = sql`runs as run indexed by runs_ended`;

/** Of a group without node, and of a node in it where nodes are the groups. */
interface Place {
  readonly key: string;
  readonly node_id: string;
  readonly actor_kind: string;
}

interface TallyRow extends Place {
  readonly runs: number;
  readonly annotations: number;
  readonly r1: number;
  readonly r2: number;
  readonly r3: number;
  readonly r4: number;
  readonly r5: number;
  readonly rated_runs: number;
  readonly mean_ratings: number;
  readonly corrections: number;
  readonly corrected_runs: number;
  readonly flags: number;
  readonly flagged_runs: number;
  readonly judged_runs: number;
  readonly positive_runs: number;
}

const RATINGS = sql`(r1 + r2 + r3 + r4 + r5)`;
const VERDICTS = sql`(r1 + r2 + r3 + r4 + r5 + passes + fails)`;

/** A row holds the judgments of one run by one kind of actor: a run that was judged ten times weighs no more than one judged once. */
function talliesOf(from: RawBuilder<unknown>, where: readonly RawBuilder<unknown>[], query: FeedbackQuery) {
  return sql<TallyRow>`
    select ${keyOf(query.groupBy)} as key, ${nodeOf(query.groupBy)} as node_id, tally.actor_kind,
      count(*) as runs,
      sum(annotations) as annotations,
      sum(r1) as r1, sum(r2) as r2, sum(r3) as r3, sum(r4) as r4, sum(r5) as r5,
      count(*) filter (where ${RATINGS} > 0) as rated_runs,
      coalesce(sum((r1 + 2 * r2 + 3 * r3 + 4 * r4 + 5 * r5) / cast(${RATINGS} as double precision))
        filter (where ${RATINGS} > 0), 0.0) as mean_ratings,
      sum(corrections) as corrections,
      count(*) filter (where corrections > 0) as corrected_runs,
      sum(flags) as flags,
      count(*) filter (where flags > 0) as flagged_runs,
      count(*) filter (where ${VERDICTS} > 0) as judged_runs,
      count(*) filter (where 2 * (r4 + r5 + passes) > ${VERDICTS}) as positive_runs
    from ${from}
    where tally.run_id = run.run_id and ${sql.join(where, sql` and `)} and ${about(query)} and tally.annotations > 0
    group by 1, 2, 3`;
}

interface LabelRow extends Place {
  readonly label: string;
  readonly n: number;
}

function labelsOf(from: RawBuilder<unknown>, where: readonly RawBuilder<unknown>[], query: FeedbackQuery) {
  return sql<LabelRow>`
    select ${keyOf(query.groupBy)} as key, ${nodeOf(query.groupBy)} as node_id, tally.actor_kind, tally.label,
      sum(n) as n
    from ${from}
    where tally.run_id = run.run_id and ${sql.join(where, sql` and `)} and ${about(query)} and tally.n > 0
    group by 1, 2, 3, 4`;
}

/** Labels that are counted in one go, and those that are read of a run at once where there are more. */
const LABELS_AT_ONCE = 20_000;
const LABELS_OF_RUN = 2000;

interface LabelSource {
  readonly visible: Visibility;
  readonly from: RawBuilder<unknown>;
  readonly where: readonly RawBuilder<unknown>[];
  readonly labelsAtOnce: number;
}

/** The labels of a period: counted by the database, or run by run where they are so many that all others would wait for it. */
async function* labelsIn(
  db: Kysely<Tables>,
  { visible, from, where, labelsAtOnce }: LabelSource,
  query: FeedbackQuery,
): AsyncGenerator<LabelRow[], void> {
  const joined = sql`${from} cross join run_labels as tally`;
  const wanted = sql`tally.run_id = run.run_id and ${sql.join(where, sql` and `)}`;
  const { rows } = await sql<{ n: number }>`select count(*) as n from (
    select 1 as one from ${joined} where ${wanted} limit ${sql.lit(labelsAtOnce + 1)}) as labels`.execute(db);
  if (Number(rows[0]?.n ?? 0) <= labelsAtOnce) {
    yield (await labelsOf(joined, where, query).execute(db)).rows;
    return;
  }
  const found = await sql<{ run_id: string; tenant: string; key: string }>`
    select run.run_id, run.tenant, ${keyOf(query.groupBy)} as key from ${from}
    where ${ended(visible, query)} and exists (select 1 from run_labels as tally where ${wanted})`.execute(db);
  for (const run of found.rows) {
    yield* labelsOfRun(db, run, query);
    await nextTurn();
  }
}

async function* labelsOfRun(
  db: Kysely<Tables>,
  { run_id, tenant, key }: { readonly run_id: string; readonly tenant: string; readonly key: string },
  query: FeedbackQuery,
): AsyncGenerator<LabelRow[], void> {
  for (let after = sql`('', '', '')`; ; await nextTurn()) {
    const { rows } = await sql<Omit<LabelRow, "key">>`
      select tally.node_id, tally.actor_kind, tally.label, tally.n from run_labels as tally
      where tally.tenant = ${tenant} and tally.run_id = ${run_id}
        and (tally.node_id, tally.actor_kind, tally.label) > ${after} and ${about(query)} and tally.n > 0
      order by tally.node_id, tally.actor_kind, tally.label limit ${sql.lit(LABELS_OF_RUN)}`.execute(db);
    const byNode = query.groupBy === "node";
    yield rows.map((row) => ({ ...row, key, node_id: byNode ? row.node_id : "" }));
    const last = rows.at(-1);
    if (last === undefined || rows.length < LABELS_OF_RUN) return;
    after = sql`(${last.node_id}, ${last.actor_kind}, ${last.label})`;
  }
}

interface RunsRow {
  readonly key: string;
  readonly runs: number;
  readonly intervened: number;
}

function runsOf(from: RawBuilder<unknown>, visible: Visibility, query: FeedbackQuery) {
  return sql<RunsRow>`
    select ${keyOf(query.groupBy)} as key, count(*) as runs, sum(run.intervened) as intervened
    from ${from} where ${ended(visible, query)} group by 1`;
}

/** A node belongs to its workflow, and so do the runs that it is seen against. */
function keyOf(groupBy: FeedbackQuery["groupBy"]): RawBuilder<string> {
  switch (groupBy) {
    case "workflow":
    case "node":
      return sql`run.workflow_id`;
    case "agent":
      return sql`coalesce(run.agent_id, '')`;
    case "day":
      return sql`cast(run.updated_at / ${sql.lit(DAY_MS)} as text)`;
    case undefined:
      return sql`''`;
  }
}

/** A run with several agents counts for each of them; where one agent is asked for, for that one. */
function perAgent<R extends { readonly key: string }>({ groupBy, agentId }: FeedbackQuery, rows: readonly R[]): R[] {
  if (groupBy !== "agent") return [...rows];
  return rows.flatMap((row) => {
    const agents = row.key === "" ? [""] : agentsIn(row.key);
    return agents.filter((key) => agentId === undefined || key === agentId).map((key) => ({ ...row, key }));
  });
}

function nodeOf(groupBy: FeedbackQuery["groupBy"]): RawBuilder<string> {
  return groupBy === "node" ? sql`tally.node_id` : sql`''`;
}

/** A literal, because SQLite does not use a partial index for parameters. */
const HAS_ENDED = sql`run.status in ('completed', 'failed', 'cancelled')`;

function ended({ tenant, workspace }: Visibility, query: FeedbackQuery): RawBuilder<unknown> {
  const { fromMs, toMs, workflowId, agentId } = query;
  const conditions = [
    HAS_ENDED,
    sql`run.tenant = ${tenant}`,
    ...(workspace === undefined ? [] : [sql`run.workspace = ${workspace}`]),
    ...(workflowId === undefined ? [] : [sql`run.workflow_id = ${workflowId}`]),
    ...(agentId === undefined ? [] : [holdsAgent(sql`run.agent_id`, agentId)]),
    ...(fromMs === undefined ? [] : [sql`run.updated_at >= ${fromMs}`]),
    ...(toMs === undefined ? [] : [sql`run.updated_at < ${toMs}`]),
  ];
  return sql.join(conditions, sql` and `);
}

/** Grouped by node, judgments of the run as a whole are in no group. */
function about({ nodeId = WHOLE_RUN, groupBy }: FeedbackQuery): RawBuilder<unknown> {
  const node = sql`tally.node_id`;
  return groupBy === "node" && nodeId === WHOLE_RUN ? sql`${node} <> ${nodeId}` : sql`${node} = ${nodeId}`;
}

function toFeedbackRow(
  row: TallyRow,
  runs: RunsRow | undefined,
  named: NamedLabels,
  groupBy: FeedbackQuery["groupBy"],
): FeedbackRow {
  return {
    key: groupBy === "day" ? isoDate(Number(row.key)) : groupBy === "node" ? `${row.key} ${row.node_id}` : row.key,
    runs: runs?.runs ?? 0,
    intervened: runs?.intervened ?? 0,
    actorKind: row.actor_kind as FeedbackRow["actorKind"],
    annotatedRuns: row.runs,
    annotations: row.annotations,
    histogram: [row.r1, row.r2, row.r3, row.r4, row.r5],
    ratedRuns: row.rated_runs,
    meanRatings: row.mean_ratings,
    corrections: row.corrections,
    correctedRuns: row.corrected_runs,
    flags: row.flags,
    flaggedRuns: row.flagged_runs,
    judgedRuns: row.judged_runs,
    positiveRuns: row.positive_runs,
    ...named,
  };
}

/** Runs without judgments are a group all the same. */
function withoutTallies(key: string): TallyRow {
  const nothing = { annotations: 0, r1: 0, r2: 0, r3: 0, r4: 0, r5: 0, corrections: 0, flags: 0 };
  const noRuns = { runs: 0, rated_runs: 0, corrected_runs: 0, flagged_runs: 0, judged_runs: 0, positive_runs: 0 };
  return { key, node_id: "", actor_kind: "person", mean_ratings: 0, ...nothing, ...noRuns };
}

function placeOf({ key, node_id, actor_kind }: Place): string {
  return JSON.stringify([key, node_id, actor_kind]);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
