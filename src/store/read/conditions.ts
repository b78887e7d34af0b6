import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Visibility } from "../../protocol/identity/identity.ts";

/** Rows of one table with `tenant` and `workspace` that a caller can see. */
export function visibleTo({ tenant, workspace }: Visibility): RawBuilder<SqlBool> {
  return workspace === undefined
    ? sql<SqlBool>`tenant = ${tenant}`
    : sql<SqlBool>`tenant = ${tenant} and workspace = ${workspace}`;
}

/** Runs that have ended. A literal, because SQLite does not use a partial index for parameters. */
export const HAS_ENDED = sql<SqlBool>`status in ('completed', 'failed', 'cancelled')`;

/** Ids per statement: few enough parameters for either database. */
const IDS_AT_ONCE = 500;

/** Rows of any number of ids, read by several statements. */
export async function inBatches<T>(
  ids: readonly string[],
  read: (some: readonly string[]) => Promise<readonly T[]>,
): Promise<T[]> {
  const found: T[] = [];
  for (let i = 0; i < ids.length; i += IDS_AT_ONCE) found.push(...(await read(ids.slice(i, i + IDS_AT_ONCE))));
  return found;
}
