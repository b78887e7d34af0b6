import { formatId, RANDOM_BYTES } from "../../protocol/id.ts";

/** The least id of a run created at the time or later: ids begin with the time, so the primary key serves periods. */
export function firstRunIdAt(atMs: number): string {
  return formatId("run", Math.max(0, atMs), new Uint8Array(RANDOM_BYTES));
}
