import type { EventPlace } from "../port/judgments.ts";
import type { RunEventsTable } from "../schema/runs.ts";

/** How the served text of an event begins: its id is the first thing in it. */
export function beginningOf(eventId: string): string {
  return `{"eventId":${JSON.stringify(eventId)},`;
}

export function toEventPlace(row: Pick<RunEventsTable, "sequence" | "type" | "body">): EventPlace {
  const { eventId, nodeId } = JSON.parse(row.body) as { eventId: string; nodeId?: string };
  return { eventId, sequence: row.sequence, type: row.type, ...(nodeId === undefined ? {} : { nodeId }) };
}
