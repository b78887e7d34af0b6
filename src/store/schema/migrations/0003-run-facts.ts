import { type Kysely, sql } from "kysely";
import { toRun } from "../../rows/rows.ts";
import { runFacts } from "../../rows/run-rows.ts";

const PAGE_ROWS = 200;

/** What runs are grouped and counted by, for those that were there before. Only states that may say something are read. */
export async function fillRunFacts(db: Kysely<unknown>): Promise<void> {
  for (let after = ""; ; ) {
    const { rows } = await sql<{ run_id: string; state: string }>`
      select run_id, state from runs
      where run_id > ${after} and (state like '%"agentId"%'
        or exists (select 1 from interrupts where interrupts.run_id = runs.run_id and interrupts.status = 'resolved'))
      order by run_id limit ${PAGE_ROWS}`.execute(db);
    for (const row of rows) {
      const { agent_id, intervened } = runFacts(toRun(row));
      await sql`update runs set agent_id = ${agent_id}, intervened = ${intervened} where run_id = ${row.run_id}`.execute(
        db,
      );
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return;
    after = last.run_id;
  }
}
