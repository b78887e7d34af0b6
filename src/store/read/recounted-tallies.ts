import { type RawBuilder, sql } from "kysely";
import type { RecountedRuns } from "../port/judgments.ts";
import { TALLIED, tallyRows } from "../rows/feedback-tallies.ts";
import type { DialectName } from "../schema/dialect-of.ts";

const PLACE = ["tenant", "run_id", "node_id", "actor_kind"] as const;

/** Tallies of judgments, as tables called `tally`; one parameter each, however many there are. */
export function recountedTallies(
  dialect: DialectName,
  { annotations }: RecountedRuns,
): { readonly feedback: RawBuilder<unknown>; readonly labels: RawBuilder<unknown> } {
  const { feedback, labels } = tallyRows(annotations);
  return {
    feedback: tableOf(dialect, feedback, PLACE, TALLIED),
    labels: tableOf(dialect, labels, [...PLACE, "label"], ["n"]),
  };
}

function tableOf(
  dialect: DialectName,
  rows: readonly object[],
  texts: readonly string[],
  counts: readonly string[],
): RawBuilder<unknown> {
  const json = JSON.stringify(rows);
  if (dialect === "sqlite") {
    const columns = [...texts, ...counts].map((name) => `value ->> '${name}' as ${name}`);
    return sql`(select ${sql.raw(columns.join(", "))} from json_each(${json})) as tally`;
  }
  const columns = [...texts.map((name) => `${name} text`), ...counts.map((name) => `${name} integer`)];
  return sql`jsonb_to_recordset(cast(${json} as jsonb)) as tally(${sql.raw(columns.join(", "))})`;
}

export function otherRunsThan(dialect: DialectName, runIds: readonly string[]): RawBuilder<unknown> {
  const json = JSON.stringify(runIds);
  return dialect === "sqlite"
    ? sql`run.run_id not in (select value from json_each(${json}))`
    : sql`run.run_id not in (select jsonb_array_elements_text(cast(${json} as jsonb)))`;
}
