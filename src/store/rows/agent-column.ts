import { type RawBuilder, sql } from "kysely";

/**
 * Agents as one column, which indexes hold. One agent is its id, as rows of earlier versions have it. Several are JSON
 * strings, each between line feeds: JSON writes no line feed, so an id between two of them is found and nothing else.
 */
const BETWEEN = "\n";

/** The first value after all that begin with a line feed. */
const AFTER_BETWEEN = "\u000b";

/** PostgreSQL indexes no row above 2,704 bytes; an id alone has at most 1,024. Agents beyond that are left out. */
const MOST_BYTES = 1024;

export function agentColumn(agentIds: readonly string[]): string | null {
  const [only] = agentIds;
  if (only === undefined) return null;
  if (agentIds.length === 1 && !only.startsWith(BETWEEN)) return only;
  for (let count = agentIds.length; count > 0; count--) {
    const column = `${BETWEEN}${agentIds
      .slice(0, count)
      .map((id) => JSON.stringify(id))
      .join(BETWEEN)}${BETWEEN}`;
    if (Buffer.byteLength(column) <= MOST_BYTES) return column;
  }
  return only.startsWith(BETWEEN) ? null : only;
}

export function agentsIn(column: string | null): readonly string[] {
  if (column === null) return [];
  return several(column) ?? [column];
}

/** Undefined for one agent. Rows of earlier versions may hold an id that begins with a line feed, as it is. */
function several(column: string): string[] | undefined {
  if (!column.startsWith(BETWEEN) || !column.endsWith(BETWEEN)) return undefined;
  try {
    const ids: unknown[] = column
      .slice(1, -1)
      .split(BETWEEN)
      .map((part) => JSON.parse(part));
    return ids.every((id) => typeof id === "string") ? ids : undefined;
  } catch {
    return undefined;
  }
}

export function isSeveral(column: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`${column} >= ${BETWEEN} and ${column} < ${AFTER_BETWEEN}`;
}

/** Whether the asked agent is the one of the column, or among several. By `replace`, which both databases have. */
export function holdsAgent(column: RawBuilder<unknown>, agentId: string): RawBuilder<boolean> {
  const found = `${BETWEEN}${JSON.stringify(agentId)}${BETWEEN}`;
  return sql<boolean>`(${column} = ${agentId} or (${isSeveral(column)} and replace(${column}, ${found}, '') <> ${column}))`;
}
