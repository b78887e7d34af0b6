import type { TapeSidecarsTable, TapesTable } from "../schema/tape-tables.ts";

/** The order in which values are bound, and columns named. */
export const TAPE_COLUMNS = [
  "run_id",
  "tenant",
  "workspace",
  "digest",
  "name",
  "records",
  "imported_by",
  "imported_at",
  "header",
  "bodies",
] as const satisfies readonly (keyof TapesTable)[];

export const SIDECAR_COLUMNS = [
  "run_id",
  "tenant",
  "revision",
  "pushed_by",
  "pushed_at",
  "body",
] as const satisfies readonly (keyof TapeSidecarsTable)[];

/** What units write of tapes. `flatten-tapes.ts` gives the values. */
export const TAPE_WRITES = {
  insertTape: `insert into tapes (${TAPE_COLUMNS}) values (${TAPE_COLUMNS.map(() => "?")})`,
  putSidecar: `insert into tape_sidecars (${SIDECAR_COLUMNS}) values (${SIDECAR_COLUMNS.map(() => "?")})
    on conflict (run_id) do update set revision = excluded.revision, pushed_by = excluded.pushed_by,
    pushed_at = excluded.pushed_at, body = excluded.body`,
} as const;

export const TAPE_READS = {
  tapeByDigest: `select run_id from tapes
    where tenant = ? and digest = ? and coalesce(workspace, '') = coalesce(?, '')`,
  sidecarHead: "select revision from tape_sidecars where run_id = ?",
} as const;
