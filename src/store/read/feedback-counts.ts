import { type RawBuilder, sql } from "kysely";
import type { RecountedRuns } from "../port/judgments.ts";
import { TALLIED, tallyRows } from "../rows/feedback-tallies.ts";
import type { DialectName } from "../schema/dialect.ts";

/** The labels of a group that a summary names; it counts the others: a group of 100,000 labels would block all readers. */
export const LABELS_NAMED = 1000;

export interface NamedLabels {
  readonly labels: Readonly<Record<string, number>>;
  /** How many judgments gave a label that is not named. */
  readonly otherLabels: number;
}

/** How often each label was given, by group. */
export class LabelCounts {
  readonly #groups = new Map<string, Map<string, number>>();

  add(group: string, label: string, n: number): void {
    let counts = this.#groups.get(group);
    if (counts === undefined) {
      counts = new Map();
      this.#groups.set(group, counts);
    }
    counts.set(label, (counts.get(label) ?? 0) + n);
  }

  of(group: string): NamedLabels {
    const counts = this.#groups.get(group);
    if (counts === undefined) return { labels: {}, otherLabels: 0 };
    const named = mostFrequent(counts);
    let otherLabels = 0;
    for (const n of counts.values()) otherLabels += n;
    for (const [, n] of named) otherLabels -= n;
    return { labels: Object.fromEntries(named), otherLabels };
  }
}

type Entry = readonly [label: string, n: number];

/** Kept and cut in batches, so that a group of any number of labels is gone through once. */
function mostFrequent(counts: ReadonlyMap<string, number>): Entry[] {
  let named: Entry[] = [];
  let least = 0;
  for (const entry of counts) {
    if (entry[1] < least) continue;
    named.push(entry);
    if (named.length < 4 * LABELS_NAMED) continue;
    named = named.sort(byNumber).slice(0, LABELS_NAMED);
    least = named.at(-1)?.[1] ?? 0;
  }
  return named.sort(byNumber).slice(0, LABELS_NAMED);
}

function byNumber([label, n]: Entry, [otherLabel, other]: Entry): number {
  return other - n || (label < otherLabel ? -1 : 1);
}

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

/** Rows of one key added up, field by field. */
export class Sums<R extends object> {
  readonly #keyOf: (row: R) => string;
  readonly #byKey = new Map<string, R>();

  constructor(keyOf: (row: R) => string) {
    this.#keyOf = keyOf;
  }

  get rows(): R[] {
    return [...this.#byKey.values()];
  }

  of(key: string): R | undefined {
    return this.#byKey.get(key);
  }

  add(rows: readonly R[]): void {
    for (const row of rows) {
      const key = this.#keyOf(row);
      const before = this.#byKey.get(key);
      this.#byKey.set(key, before === undefined ? row : sum(before, row));
    }
  }
}

function sum<R extends object>(a: R, b: R): R {
  const fields = Object.entries(a).map(([name, value]) => {
    const other = b[name as keyof R];
    return [name, typeof value === "number" && typeof other === "number" ? value + other : value];
  });
  return Object.fromEntries(fields) as R;
}
