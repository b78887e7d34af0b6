import { setImmediate as nextTurn } from "node:timers/promises";
import { type Kysely, sql } from "kysely";
import { isId } from "../../protocol/id.ts";
import type { EventPlace } from "../port/judgments.ts";
import type { RunEventsTable } from "../schema/runs.ts";
import type { Tables } from "../schema/tables.ts";

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
