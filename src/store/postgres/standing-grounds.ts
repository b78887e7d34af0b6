import type { Refusal, Unit } from "../port/store.ts";
import type { PreparedUnit } from "./prepare-unit.ts";
import type { Question, RowsOf } from "./standing.ts";
import type { StandingRows } from "./standing-rows.ts";

/** Runs that a unit of the batch rests on and that were judged since. Such a unit is a batch of its own. */
export interface StandingGrounds {
  readonly judged: ReadonlySet<string>;
}

// After the audit heads are locked: whoever judges has to have theirs.
const READ_JUDGED = `select run_id from unnest($1::text[], $2::text[], $3::text[]) as given(tenant, run_id, seq)
  where exists (select 1 from annotation_changes as change
    join annotations using (tenant, annotation_id)
    where change.tenant = given.tenant and change.seq > given.seq::bigint and annotations.run_id = given.run_id)`;

export function groundQuestions(batch: readonly PreparedUnit[]): Question[] {
  const given = batch.flatMap(({ unit }) =>
    (unit.grounds ?? []).flatMap(({ runId, judgedUpTo }) =>
      judgedUpTo === undefined ? [] : [[unit.tenant, runId, String(judgedUpTo)]],
    ),
  );
  const values = [0, 1, 2].map((column) => given.map((row) => row[column] ?? ""));
  return [{ name: "read judged", text: READ_JUDGED, values }];
}

export function standingGrounds(rowsOf: RowsOf): StandingGrounds {
  return { judged: new Set(rowsOf("read judged").map(({ run_id }) => run_id)) };
}

/** Whether what the unit rests on is as it was read. */
export function checkGrounds(unit: Unit, { runs, judged }: Pick<StandingRows, "runs" | "judged">): Refusal | undefined {
  for (const { runId, version: wanted } of unit.grounds ?? []) {
    const row = runs.get(runId)?.row;
    const version = row?.tenant === unit.tenant ? row.version : 0;
    if (version !== wanted) return { type: "version", runId, version };
    if (judged.has(runId)) return { type: "ground", runId };
  }
  return undefined;
}
