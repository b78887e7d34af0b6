import { type Kysely, type Migration, sql } from "kysely";

/** Tallies of runs with imported judgments, counted again: those of imported judgments are apart from those of what was made here. */
export const importedTallies: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};

const OF_RUNS = "(tenant, run_id) in (select tenant, run_id from annotations where imported_by is not null)";

/** Each judgment once for its run, and once more for its node where it is about one. */
const PLACED = `(
    select annotations.*, '' as place from annotations
    union all
    select annotations.*, about_node as place from annotations where about_node is not null
  ) as placed`;
const KIND = "case when imported_by is null then actor_kind else 'imported' end";
const LIVE = `state = 'live' and ${OF_RUNS}`;

const STARS = [1, 2, 3, 4, 5].map((stars) => `count(*) filter (where kind = 'rating' and rating = ${stars})`);

const STATEMENTS = [
  `delete from run_feedback where ${OF_RUNS}`,
  `delete from run_labels where ${OF_RUNS}`,
  `insert into run_feedback
    (tenant, run_id, node_id, actor_kind, annotations, r1, r2, r3, r4, r5, corrections, flags, passes, fails)
    select tenant, run_id, place, ${KIND}, count(*), ${STARS},
      count(*) filter (where kind = 'correction'),
      count(*) filter (where kind = 'flag'),
      count(*) filter (where kind = 'label' and label = 'pass'),
      count(*) filter (where kind = 'label' and label = 'fail')
    from ${PLACED} where ${LIVE} group by 1, 2, 3, 4`,
  `insert into run_labels (tenant, run_id, node_id, actor_kind, label, n)
    select tenant, run_id, place, ${KIND}, label, count(*)
    from ${PLACED} where ${LIVE} and kind = 'label' and label is not null group by 1, 2, 3, 4, 5`,
];
