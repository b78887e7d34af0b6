import { setImmediate as nextTurn } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import { formatId, isId, RANDOM_BYTES } from "../../protocol/id.ts";
import type { Visibility } from "../../protocol/identity/identity.ts";
import type { Run } from "../../protocol/runs/run.ts";
import { CHILD_MEMBERS, HEAD_MEMBERS, headOf } from "../../protocol/runs/run-head.ts";
import type { EventPlace } from "../port/judgments.ts";
import { toRun } from "../rows/rows.ts";
import { dialectOf } from "../schema/dialect.ts";
import type { RunEventsTable } from "../schema/runs.ts";
import type { Tables } from "../schema/tables.ts";

type Member = readonly [string, unknown];

interface HeadRow {
  readonly bytes: number;
  /** JSON: the members of the state that belong to its head, by name. */
  readonly members: string;
  /** JSON: the children with their ids. */
  readonly children: string;
}

/**
 * The head of a run, taken out of its state by the database: nothing else of the state comes into this process. The database parses the
 * whole state for it, so SQLite does this in its own thread: `db` is the handle that writes.
 */
export async function readHead(
  db: Kysely<Tables>,
  { tenant, workspace }: Visibility,
  runId: string,
): Promise<Run | undefined> {
  const place = workspace === undefined ? sql`` : sql`and workspace = ${workspace}`;
  const found = sql`run_id = ${runId} and tenant = ${tenant} ${place}`;
  const select = dialectOf(db) === "sqlite" ? sqliteHead : postgresHead;
  const { rows } = await select(found).execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const members = JSON.parse(row.members) as readonly Member[];
  const children = JSON.parse(row.children) as readonly (readonly [string, Readonly<Record<string, unknown>>])[];
  return headOf(Object.fromEntries(members), children, row.bytes);
}

/** Names that no caller chooses. */
const members = sql.raw(HEAD_MEMBERS.map((name) => `json_array('${name}', json_extract(doc, '$.${name}'))`).join(", "));

/** The state is parsed once, to the binary form that the functions read members from. */
function sqliteHead(found: ReturnType<typeof sql>) {
  return sql<HeadRow>`
    with parsed as materialized (select jsonb(state) as doc, octet_length(state) as bytes from runs where ${found})
    select bytes, json_array(${members}) as members,
      (select json_group_array(json_array(key, json_remove(value, '$.result')))
        from json_each(doc, '$.children')) as children
    from parsed`;
}

const names = sql.join(HEAD_MEMBERS.map((name) => sql.lit(name)));
const child = sql.raw(CHILD_MEMBERS.map((name) => `'${name}', value -> '${name}'`).join(", "));

/** PostgreSQL takes nothing out of JSON with an escaped NUL or half a surrogate anywhere in it: escapes become plain text. */
function postgresHead(found: ReturnType<typeof sql>) {
  return sql<HeadRow>`
    with parsed as materialized (
      select replace(state, '\\u', '\\/u')::json as doc, octet_length(state) as bytes from runs where ${found}
    )
    select bytes,
      (select coalesce(json_agg(json_build_array(key, value)), '[]') from json_each(doc) where key in (${names}))::text as members,
      (select coalesce(json_agg(json_build_array(key, json_build_object(${child}))), '[]')
        from json_each(doc -> 'children'))::text as children
    from parsed`;
}

/** A row of `runs` with its state, or null in its place where the state is larger than wanted. */
export interface BoundedState {
  readonly run_id: string;
  readonly state: string | null;
}

/** The state where it has at most so many bytes. */
export function stateUpTo(bytes: number | undefined) {
  const state =
    bytes === undefined
      ? sql<string>`state`
      : sql<string | null>`case when octet_length(state) <= ${bytes} then state end`;
  return state.as("state");
}

/** The runs of the rows in their order, with the heads of those whose state was left out. Runs that are gone by then are left out. */
export async function runsOrHeads(db: Kysely<Tables>, tenant: string, rows: readonly BoundedState[]): Promise<Run[]> {
  const runs: Run[] = [];
  for (const { run_id, state } of rows) {
    const run = state === null ? await readHead(db, { tenant }, run_id) : toRun({ state });
    if (run !== undefined) runs.push(run);
  }
  return runs;
}

/** The least id of a run created at the time or later: ids begin with the time, so the primary key serves periods. */
export function firstRunIdAt(atMs: number): string {
  return formatId("run", Math.max(0, atMs), new Uint8Array(RANDOM_BYTES));
}

/** How the served text of an event begins: its id is the first thing in it. */
export function beginningOf(eventId: string): string {
  return `{"eventId":${JSON.stringify(eventId)},`;
}

export function toEventPlace(row: Pick<RunEventsTable, "sequence" | "type" | "body">): EventPlace {
  const { eventId, nodeId } = JSON.parse(row.body) as { eventId: string; nodeId?: string };
  return { eventId, sequence: row.sequence, type: row.type, ...(nodeId === undefined ? {} : { nodeId }) };
}

/** Events that are looked at in one go: SQLite does so in this process, and others wait meanwhile. */
const EVENTS_AT_ONCE = 5000;

/** The log is read once, however many events are looked for. Only ids of the form that this host gives are found. */
export async function findEvents(
  db: Kysely<Tables>,
  runId: string,
  eventIds: readonly string[],
): Promise<EventPlace[]> {
  const beginnings = [...new Set(eventIds)].filter(isId).map(beginningOf);
  const lengths = [...new Set(beginnings.map(({ length }) => length))];
  const found: EventPlace[] = [];
  if (lengths.length === 0) return found;
  const head = await db
    .selectFrom("run_events")
    .select(sql<number | null>`max(sequence)`.as("last"))
    .where("run_id", "=", runId)
    .executeTakeFirst();
  for (let from = 0; from <= (head?.last ?? -1); from += EVENTS_AT_ONCE) {
    for (const size of lengths) {
      const wanted = beginnings.filter(({ length }) => length === size);
      const rows = await db
        .selectFrom("run_events")
        .select(["sequence", "type", "body"])
        .where("run_id", "=", runId)
        .where("sequence", ">=", from)
        .where("sequence", "<", from + EVENTS_AT_ONCE)
        .where(sql<string>`substr(body, 1, ${sql.lit(size)})`, "in", wanted)
        .execute();
      found.push(...rows.map(toEventPlace));
    }
    await nextTurn();
  }
  return found;
}
